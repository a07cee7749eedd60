/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_host PLUGIN...: loads each in turn, lets it work, unloads it; many times. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int done = 0;
    for (int round = 0; round < 20; round++) {
        for (int i = 1; i < argc; i++) {
            void *plugin = dlopen(argv[i], RTLD_NOW);
            int (*work)(const char *);
            void *found = plugin != NULL ? dlsym(plugin, "plugin_work") : NULL;
            if (found == NULL) {
                (void)fprintf(stderr, "%s\n", dlerror());
                return 1;
            }
            memcpy(&work, &found, sizeof(work));
            done += work(i == 1 ? "one.dat" : "two.dat");
            dlclose(plugin);
        }
    }
    printf("done %d\n", done);
    return 0;
}
