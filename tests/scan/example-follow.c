/* SPDX-License-Identifier: MIT */
/*
 * Prints the messages of all machines whose journals are in a directory, those that are there and
 * those that come in, and goes on where the last run has come to. Ended by SIGINT or SIGTERM it has
 * each message printed once; killed, it prints those of the last second again.
 *
 *	example-follow DIRECTORY CHECKPOINT
 */
#include <errno.h>
#include <jscan.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct jscan *engine;

/* The only function of the library that a signal handler may call. */
static void stop(int signal)
{
	(void)signal;
	jscan_stop(engine);
}

/* sink: entry. Values are not NUL-terminated; one that is large is only named here. */
static int print_entry(void *userdata, const struct jscan_entry *entry,
		       const struct jscan_entry_context *context)
{
	struct jscan_field field = { .size = sizeof(field) };

	(void)userdata;
	(void)context;
	if (jscan_entry_field(entry, "MESSAGE", &field) != 1)
		return 0;
	if (field.value)
		fwrite(field.value, 1, field.value_size, stdout);
	else
		printf("(%llu bytes)", (unsigned long long)field.value_size);
	putchar('\n');
	return ferror(stdout) ? -EIO : 0;
}

/* sink: flush. It comes before the engine sleeps, and before a checkpoint is told. */
static int print_flush(void *userdata)
{
	(void)userdata;
	return fflush(stdout) == 0 ? 0 : -errno;
}

/* jscan_checkpoint_fn: replaces the file as a whole, so that there always is a whole one. */
static int keep(void *userdata, const char *text)
{
	const char *path = userdata;
	char temporary[4096];
	FILE *f;
	int r;

	if (snprintf(temporary, sizeof(temporary), "%s.new", path) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	f = fopen(temporary, "we");
	if (!f)
		return -errno;
	r = fputs(text, f) < 0 || fflush(f) != 0 || fsync(fileno(f)) < 0 ? -errno : 0;
	if (fclose(f) != 0 && r == 0)
		r = -errno;
	return r < 0 ? r : rename(temporary, path) < 0 ? -errno : 0;
}

/* Goes on from what was kept; from the beginning if there is nothing. */
static int resume(char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	int r;

	if (!f && errno != ENOENT)
		return -errno;
	if (f && getdelim(&text, &size, '\0', f) < 0 && ferror(f))
		r = -EIO;
	else
		r = jscan_seek_checkpoint(engine, text);
	free(text);
	if (f)
		fclose(f);
	return r < 0 ? r : jscan_set_checkpoint_handler(engine, 1000000, keep, path);
}

int main(int argc, char **argv)
{
	static const struct jscan_sink_ops ops = { .size = sizeof(ops), .entry = print_entry,
						   .flush = print_flush };
	struct sigaction action = { .sa_handler = stop };
	int r;

	if (argc != 3 || jscan_new(NULL, &engine) < 0)
		return 2;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	r = jscan_add_directory(engine, argv[1], 0);
	if (r == 0)
		r = jscan_set_follow(engine, 1);
	if (r == 0)
		r = resume(argv[2]);
	if (r == 0)
		r = jscan_add_sink(engine, &ops, NULL);
	if (r == 0)
		r = jscan_run(engine); /* until a signal comes */
	jscan_free(engine);
	if (r < 0)
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-r));
	return r < 0;
}
