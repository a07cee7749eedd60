// SPDX-License-Identifier: Apache-2.0
// A directory is read by an inline function of C++'s library, which is compiled into the program:
// as a function of its own without optimisation, else into the line that calls it; and by code of
// the program that is compiled into a function of the library, a std::function's.
#include <cstdio>
#include <dirent.h>
#include <filesystem>
#include <functional>

static int count(const std::filesystem::path &directory)
{
    int found = 0;
    for (const auto &entry : std::filesystem::directory_iterator(directory)) { // LINE
        found += entry.path().native().empty() ? 0 : 1;
    }
    return found;
}

__attribute__((noinline)) static int count_by(const std::function<int(const char *)> &function)
{
    int found = 0;
    for (int i = 0; i < 40; i++) {
        found += function(".");
    }
    return found;
}

int main()
{
    int found = count_by([](const char *path) {
        int entries = 0;
        DIR *directory = opendir(path);                                 // LINE
        while (directory != nullptr && readdir(directory) != nullptr) { // LINE
            entries++;
        }
        (void)closedir(directory); // LINE
        return entries;
    });
    for (int i = 0; i < 40; i++) {
        found += count("."); // LINE
    }
    std::printf("%d\n", found);
    return 0;
}
