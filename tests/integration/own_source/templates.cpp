// SPDX-License-Identifier: Apache-2.0
// A directory is read by an inline function of C++'s library, which is compiled into the program:
// as a function of its own without optimisation, else into the line that calls it.
#include <cstdio>
#include <filesystem>

static int count(const std::filesystem::path &directory)
{
    int found = 0;
    for (const auto &entry : std::filesystem::directory_iterator(directory)) { // LINE
        found += entry.path().native().empty() ? 0 : 1;
    }
    return found;
}

int main()
{
    int found = 0;
    for (int i = 0; i < 40; i++) {
        found += count("."); // LINE
    }
    std::printf("%d\n", found);
    return 0;
}
