/* SPDX-License-Identifier: MIT */
/* Files that somebody may have tampered with: links, foreign owners, modes, half
 * writes. */
/* sources: core */
#include "check.h"
#include "core/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOREIGN_USER = 65534 };

static char root[PATH_MAX];

static const char *
under(const char *name)
{
    static char text[4][PATH_MAX + 64];
    static unsigned turn;
    char *path = text[turn++ % 4];

    (void)snprintf(path, sizeof text[0], "%s/%s", root, name);
    return path;
}

static unsigned
entries_of(const char *path)
{
    unsigned count = 0;
    DIR *folder = opendir(path);

    CHECK(folder != NULL);
    for (struct dirent *entry = readdir(folder); entry != NULL;
         entry = readdir(folder)) {
        count += entry->d_name[0] != '.' || strstr(entry->d_name, ".tmp") != NULL;
    }
    CHECK_EQUAL(closedir(folder), 0);
    return count;
}

static void
make_file(const char *path, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    CHECK(fd >= 0);
    CHECK_EQUAL(write(fd, "old", 3), 3);
    CHECK_EQUAL(fchmod(fd, mode), 0);
    CHECK_EQUAL(close(fd), 0);
}

static void
check_content(const char *path, const char *want)
{
    void *bytes = NULL;
    size_t size = 0;

    CHECK_EQUAL(ha_file_read(path, true, &bytes, &size), HA_OK);
    CHECK_EQUAL(size, strlen(want));
    CHECK_TEXT(bytes, want); /* there is a NUL after the last byte */
    free(bytes);
}

static void
test_write_then_read_gives_the_bytes(void)
{
    struct stat info;

    CHECK_EQUAL(ha_file_write_atomic(root, "plain", "first", 5), HA_OK);
    check_content(under("plain"), "first");
    CHECK_EQUAL(ha_file_write_atomic(root, "plain", "second one", 10), HA_OK);
    check_content(under("plain"), "second one");
    CHECK_EQUAL(stat(under("plain"), &info), 0);
    CHECK_EQUAL(info.st_mode & 07777, 0600);
    CHECK_EQUAL(ha_file_write_atomic(root, "empty", "", 0), HA_OK);
    check_content(under("empty"), "");
}

static void
test_write_replaces_a_link_and_leaves_its_target(void)
{
    make_file(under("victim"), 0600);
    CHECK_EQUAL(symlink(under("victim"), under("link")), 0);
    CHECK_EQUAL(ha_file_write_atomic(root, "link", "new", 3), HA_OK);
    check_content(under("victim"), "old");
    check_content(under("link"), "new");
}

static void
test_write_refuses_names_that_lead_elsewhere(void)
{
    CHECK_EQUAL(ha_file_write_atomic(root, "../out", "x", 1), HA_ERROR_INVALID);
    CHECK_EQUAL(ha_file_write_atomic(root, "", "x", 1), HA_ERROR_INVALID);
    CHECK_EQUAL(symlink(root, under("way")), 0);
    CHECK(ha_file_write_atomic(under("way"), "x", "x", 1) != HA_OK);
    CHECK(access(under("x"), F_OK) != 0);
}

static void
test_failed_write_leaves_nothing_behind(void)
{
    unsigned before = entries_of(root);

    CHECK_EQUAL(mkdir(under("folder"), 0700), 0);
    make_file(under("folder/inside"), 0600);
    /* A file can't take the place of a folder: the rename fails, after the write. */
    CHECK_EQUAL(ha_file_write_atomic(root, "folder", "x", 1), HA_ERROR_SYSTEM);
    CHECK_PART(ha_error_text(), root);
    CHECK_EQUAL(entries_of(root), before + 1);
    CHECK_EQUAL(ha_file_write_atomic(under("nowhere"), "a", "x", 1),
                HA_ERROR_NOT_FOUND);
}

static void
test_text_has_no_nul_within(void)
{
    char *text = NULL;

    CHECK_EQUAL(ha_file_write_atomic(root, "text", "a\nb", 3), HA_OK);
    CHECK_EQUAL(ha_file_read_text(under("text"), true, &text), HA_OK);
    CHECK_TEXT(text, "a\nb");
    free(text);
    text = NULL;
    CHECK_EQUAL(ha_file_write_atomic(root, "binary", "a\0b", 3), HA_OK);
    CHECK_EQUAL(ha_file_read_text(under("binary"), true, &text), HA_ERROR_INVALID);
    CHECK_PART(ha_error_text(), "binary");
    CHECK_EQUAL(ha_file_read_text(under("absent"), true, &text), HA_ERROR_NOT_FOUND);
    CHECK(text == NULL); /* untouched on failure */
}

static void
test_read_refuses_what_is_no_file_of_ours(void)
{
    void *bytes = (void *)(uintptr_t)1;
    size_t size = 77;

    CHECK_EQUAL(ha_file_read(under("absent"), true, &bytes, &size), HA_ERROR_NOT_FOUND);
    CHECK_PART(ha_error_text(), "absent");
    CHECK_EQUAL(ha_file_read(root, true, &bytes, &size), HA_ERROR_INVALID);
    make_file(under("target"), 0600);
    CHECK_EQUAL(symlink(under("target"), under("soft")), 0);
    CHECK(ha_file_read(under("soft"), true, &bytes, &size) != HA_OK);
    make_file(under("shared"), 0620);
    CHECK_EQUAL(ha_file_read(under("shared"), true, &bytes, &size), HA_ERROR_INVALID);
    CHECK_EQUAL(mkfifo(under("pipe"), 0600), 0); /* must not block */
    CHECK_EQUAL(ha_file_read(under("pipe"), true, &bytes, &size), HA_ERROR_INVALID);
    CHECK(bytes == (void *)(uintptr_t)1 && size == 77); /* untouched on failure */
    CHECK_EQUAL(ha_file_read(under("soft"), false, &bytes, &size), HA_OK);
    free(bytes);
}

static void
test_foreign_owner_is_refused(void)
{
    void *bytes = NULL;
    size_t size = 0;

    if (geteuid() != 0) {
        printf("not root: foreign owners are not tested\n");
        return;
    }
    make_file(under("foreign"), 0600);
    CHECK_EQUAL(chown(under("foreign"), FOREIGN_USER, FOREIGN_USER), 0);
    CHECK_EQUAL(ha_file_read(under("foreign"), true, &bytes, &size), HA_ERROR_INVALID);
    CHECK_PART(ha_error_text(), "another user");
    CHECK_EQUAL(mkdir(under("theirs"), 0700), 0);
    CHECK_EQUAL(chown(under("theirs"), FOREIGN_USER, FOREIGN_USER), 0);
    CHECK_EQUAL(ha_dir_private(under("theirs")), HA_ERROR_INVALID);
}

static void
test_private_folder(void)
{
    struct stat info;

    CHECK_EQUAL(ha_dir_private(under("a/b/c")), HA_OK);
    CHECK_EQUAL(ha_dir_private(under("a/b/c/")), HA_OK);
    CHECK_EQUAL(stat(under("a/b/c"), &info), 0);
    CHECK_EQUAL(info.st_mode & 07777, 0700);
    CHECK_EQUAL(symlink(under("a"), under("alias")), 0);
    CHECK_EQUAL(ha_dir_private(under("alias")), HA_ERROR_INVALID);
    CHECK_EQUAL(ha_dir_private(under("alias/")), HA_ERROR_INVALID);
    CHECK_EQUAL(chmod(under("a"), 0750), 0);
    CHECK_EQUAL(ha_dir_private(under("a")), HA_ERROR_INVALID);
    CHECK_PART(ha_error_text(), "750");
    CHECK_EQUAL(ha_dir_private(""), HA_ERROR_INVALID);
    make_file(under("file"), 0600);
    CHECK(ha_dir_private(under("file")) != HA_OK);
}

static void *
write_often(void *letter)
{
    char bytes[4096];

    memset(bytes, *(const char *)letter, sizeof bytes);
    for (unsigned i = 0; i < 50; i++) {
        if (ha_file_write_atomic(root, "contended", bytes, sizeof bytes) != HA_OK) {
            return letter;
        }
    }
    return NULL;
}

static void
test_concurrent_writes_are_whole(void)
{
    static const char letters[4] = {'a', 'b', 'c', 'd'};
    pthread_t threads[4];
    unsigned before = entries_of(root);

    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQUAL(pthread_create(&threads[i], NULL, write_often, (void *)&letters[i]),
                    0);
    }
    for (unsigned i = 0; i < 100; i++) {
        void *bytes = NULL;
        size_t size = 0;
        if (ha_file_read(under("contended"), true, &bytes, &size) == HA_OK) {
            const char *text = bytes;
            CHECK_EQUAL(size, 4096);
            CHECK(memchr(letters, text[0], sizeof letters) != NULL);
            CHECK(memcmp(text, text + 1, size - 1) == 0); /* one writer's bytes */
        }
        free(bytes);
    }
    for (unsigned i = 0; i < 4; i++) {
        void *failed = NULL;
        CHECK_EQUAL(pthread_join(threads[i], &failed), 0);
        CHECK(failed == NULL);
    }
    CHECK_EQUAL(entries_of(root), before + 1);
}

static void
test_named_file_is_written_where_it_is(void)
{
    char text[8] = {0};
    int ends[2];
    char path[64];

    CHECK(ha_file_write(under("named"), "longer text", 11) == HA_OK);
    CHECK(symlink("named", under("named_link")) == 0);
    CHECK(ha_file_write(under("named_link"), "short", 5) == HA_OK);
    struct stat info;
    CHECK(lstat(under("named_link"), &info) == 0 && S_ISLNK(info.st_mode));
    CHECK(stat(under("named"), &info) == 0 && info.st_size == 5);
    CHECK(pipe(ends) == 0);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    CHECK(ha_file_write(path, "piped", 5) == HA_OK);
    CHECK(read(ends[0], text, sizeof text) == 5 && memcmp(text, "piped", 5) == 0);
    close(ends[0]);
    close(ends[1]);
    CHECK(ha_file_write("/dev/full", "text", 4) == HA_ERROR_SYSTEM);
    CHECK(stat("/dev/full", &info) == 0 && S_ISCHR(info.st_mode));
    CHECK(ha_file_write(root, "text", 4) != HA_OK);
    CHECK(ha_file_write(under("no/such/folder"), "text", 4) != HA_OK);
    CHECK(unlink(under("named_link")) == 0 && unlink(under("named")) == 0);
}

int
main(void)
{
    char command[PATH_MAX + 32];
    const char *parent = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";

    (void)snprintf(root, sizeof root, "%s/hipadapt-file-XXXXXX", parent);
    CHECK(mkdtemp(root) != NULL);
    RUN(test_write_then_read_gives_the_bytes);
    RUN(test_write_replaces_a_link_and_leaves_its_target);
    RUN(test_write_refuses_names_that_lead_elsewhere);
    RUN(test_failed_write_leaves_nothing_behind);
    RUN(test_text_has_no_nul_within);
    RUN(test_read_refuses_what_is_no_file_of_ours);
    RUN(test_foreign_owner_is_refused);
    RUN(test_private_folder);
    RUN(test_concurrent_writes_are_whole);
    RUN(test_named_file_is_written_where_it_is);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command) == 0 ? 0 : 1;
}
