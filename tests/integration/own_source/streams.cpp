// SPDX-License-Identifier: Apache-2.0
// 2 MB by a C++ stream with its own buffer, in parts of 100 bytes.
#include <fstream>
#include <string>

int main()
{
    const std::string part(100, 'x');
    std::ofstream file("out");
    for (int i = 0; i < 20000; i++) {
        file << part;
    }
    return file.flush() ? 0 : 1;
}
