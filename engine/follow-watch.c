/* SPDX-License-Identifier: MIT */
/*
 * Which files have changed. Directories are watched by inotify, never files: a writer's truncation
 * of a file to its own length, by which it tells of new entries, shows up in the directory. A file
 * is known by device and inode, its name only leads to it: so a rename is seen as one whichever of
 * its two events, or none, comes through.
 *
 * Where a watch cannot be had, a timer takes the place of all of them: at every tick everything is
 * looked at. That is told once.
 *
 * Nothing is opened here. Sources are marked (stale, gone), new ones put among the arrivals.
 */
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "engine/discover.h"
#include "engine/follow.h"

#define FOLLOW_MASK                                                                                \
	(IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |             \
	 IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
#define FOLLOW_MASK_GONE (IN_DELETE | IN_MOVED_FROM)
#define FOLLOW_EVENT_BYTES 16384u

/* Goes over to the timer. */
static int follow_use_timer(struct jscan *e, const char *path, int error)
{
	const struct itimerspec every = {
		.it_interval = { .tv_nsec = FOLLOW_TIMER_USEC * 1000 },
		.it_value = { .tv_nsec = FOLLOW_TIMER_USEC * 1000 },
	};
	struct follow *f = e->follow;

	if (f->timer_fd >= 0)
		return 0;
	f->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (f->timer_fd < 0 || timerfd_settime(f->timer_fd, 0, &every, NULL) < 0)
		return -errno;
	problem_report_path(e, path, JSCAN_REASON_WATCH, error,
			    "no more can be watched: files are looked at every 100 ms instead");
	return 0;
}

int follow_watch_begin(struct jscan *e)
{
	struct follow *f = e->follow;

	f->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	f->watching = true;
	return f->inotify_fd < 0 ? follow_use_timer(e, "", -errno) : 0;
}

void follow_watch_end(struct follow *f)
{
	for (size_t i = 0; i < f->watch_count; i++)
		free(f->watches[i].path);
	free(f->watches);
	if (f->inotify_fd >= 0)
		close(f->inotify_fd);
	if (f->timer_fd >= 0)
		close(f->timer_fd);
}

int follow_watch(struct jscan *e, const struct discover_origin *origin, const char *path,
		 bool deeper)
{
	struct follow *f = e->follow;
	int wd = f->inotify_fd < 0 ? -1 : inotify_add_watch(f->inotify_fd, path, FOLLOW_MASK);

	if (wd < 0) {
		/* What is missing or may not be read is told of when it is listed. */
		if (f->inotify_fd >= 0 && (errno == ENOSPC || errno == ENOMEM))
			return follow_use_timer(e, path, -errno);
		return 0;
	}
	for (size_t i = 0; i < f->watch_count; i++) {
		const struct follow_watch *w = &f->watches[i];

		if (w->wd == wd && w->origin == origin)
			return 0;
	}
	if (f->watch_count == f->watch_capacity) {
		size_t capacity = f->watch_capacity ? f->watch_capacity * 2 : 8;
		struct follow_watch *watches =
			reallocarray(f->watches, capacity, sizeof(*watches));

		if (!watches)
			return -ENOMEM;
		f->watches = watches;
		f->watch_capacity = capacity;
	}
	f->watches[f->watch_count] = (struct follow_watch){ wd, deeper, origin, strdup(path) };
	return f->watches[f->watch_count++].path ? 0 : -ENOMEM;
}

int follow_watch_file(struct jscan *e, const struct discover_origin *origin, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) :
				  strdup(".");
	int r = directory ? follow_watch(e, origin, directory, false) : -ENOMEM;

	free(directory);
	return r;
}

/* ---- names to sources --------------------------------------------------------------------- */

/* True if a source was found by this path, or is there. */
static bool follow_is_at(const struct source *s, const char *path)
{
	return !s->dropped && !s->given &&
	       (strcmp(s->path, path) == 0 || (s->found && strcmp(s->found, path) == 0));
}

/* Calls FN for all sources, arrivals included, until it answers true. */
static struct source *follow_find(struct jscan *e,
				  bool (*fn)(const struct source *s, const void *userdata),
				  const void *userdata)
{
	struct follow *f = e->follow;

	for (size_t i = 0; i < e->source_count; i++) {
		if (fn(e->sources[i], userdata))
			return e->sources[i];
	}
	for (size_t i = 0; i < f->arrival_count; i++) {
		if (fn(f->arrivals[i], userdata))
			return f->arrivals[i];
	}
	return NULL;
}

/* follow_find(): by name. */
static bool follow_has_path(const struct source *s, const void *path)
{
	return !s->gone && follow_is_at(s, path);
}

/* follow_find(): by device and inode. */
static bool follow_has_inode(const struct source *s, const void *stat)
{
	const struct stat *st = stat;

	return !s->dropped && !s->given && s->header_known && s->stat.inode == st->st_ino &&
	       s->stat.device == st->st_dev;
}

/* A source has another name now. */
static int follow_rename(struct source *s, const char *path)
{
	char *copy;

	s->gone = false;
	if (follow_is_at(s, path))
		return 0;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	free(s->found);
	s->found = NULL;
	if (s->state == SOURCE_OPENING)
		s->found = s->path; /* the open that is under way reads it */
	else
		free(s->path);
	s->path = copy;
	return 0;
}

/* Adds a source to the arrivals. */
static int follow_arrive(struct jscan *e, const char *path)
{
	struct follow *f = e->follow;
	struct source *s;
	int r;

	if (f->arrival_count == f->arrival_capacity) {
		size_t capacity = f->arrival_capacity ? f->arrival_capacity * 2 : 8;
		struct source **arrivals =
			reallocarray(f->arrivals, capacity, sizeof(*arrivals));

		if (!arrivals)
			return -ENOMEM;
		f->arrivals = arrivals;
		f->arrival_capacity = capacity;
	}
	r = source_new(e, path, &s);
	if (r < 0)
		return r;
	s->arriving = true;
	f->arrivals[f->arrival_count++] = s;
	return 0;
}

int follow_offer(struct jscan *e, const char *path)
{
	struct source *s = follow_find(e, follow_has_path, path);
	struct stat st;

	if (e->phase == PHASE_OPEN)
		return s ? 0 : engine_add_source(e, path, &s);
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode)) {
		if (s)
			s->gone = s->stale = true;
		return 0;
	}
	if (s && s->arriving)
		return 0;
	if (s && s->error) {
		s->dropped = true; /* it could not be used: perhaps it can be now */
		s = NULL;
	} else if (s && !follow_has_inode(s, &st)) {
		s->gone = s->stale = true; /* another file has taken its place */
		s = NULL;
	}
	if (!s)
		s = follow_find(e, follow_has_inode, &st);
	if (!s)
		return follow_arrive(e, path);
	if (s->error)
		return 0;
	s->stale = s->stale || s->gone ||
		   s->journal.header.state != JOURNAL_STATE_ARCHIVED;
	return follow_rename(s, path);
}

bool follow_relocate(struct source *s)
{
	const char *slash = strrchr(s->path, '/');
	struct dirent *entry;
	bool found = false;
	char *folder, *path;
	struct stat st;
	DIR *d;

	if (!s->engine->follow || s->given || !slash)
		return false;
	folder = strndup(s->path, (size_t)(slash - s->path) + 1);
	d = folder ? opendir(folder) : NULL;
	while (d && !found && (entry = readdir(d))) {
		if (entry->d_ino != s->stat.inode)
			continue;
		path = discover_join(folder, entry->d_name);
		if (path && strcmp(path, s->path) != 0 && stat(path, &st) == 0 &&
		    follow_has_inode(s, &st)) {
			free(s->found);
			s->found = NULL;
			free(s->path);
			s->path = path;
			path = NULL;
			found = true;
		}
		free(path);
	}
	if (d)
		closedir(d);
	free(folder);
	return found;
}

/* ---- events ------------------------------------------------------------------------------- */

/* True if a name in a watched directory is of its origin's files. */
static bool follow_takes(const struct follow_watch *w, const char *name, const char *path)
{
	if (!w->origin->pattern)
		return discover_wants_file(&w->origin->scope, name);
	if (strchr(w->origin->path, '/') == NULL)
		path = name;
	return w->origin->literal ? strcmp(w->origin->path, path) == 0 :
				    strcmp(w->origin->path, path) == 0 ||
					    fnmatch(w->origin->path, path, FNM_PATHNAME) == 0;
}

/* Something has happened to a name in a directory. */
static int follow_take_event(struct jscan *e, const struct follow_watch *w,
			     const struct inotify_event *event)
{
	char *path = discover_join(w->path, event->name);
	struct source *s;
	int r = 0;

	if (!path)
		return -ENOMEM;
	if (event->mask & IN_ISDIR) {
		if (w->deeper && (event->mask & (IN_CREATE | IN_MOVED_TO)) &&
		    discover_wants_directory(&w->origin->scope, event->name))
			r = discover_enter(e, w->origin, path);
		r = r == -ENOMEM ? r : 0;
	} else if (follow_takes(w, event->name, path)) {
		s = follow_find(e, follow_has_path, path);
		if (event->mask & FOLLOW_MASK_GONE) {
			if (s)
				s->gone = s->stale = true;
		} else if (s && !s->error && event->mask == IN_MODIFY) {
			s->stale = true; /* the usual case: it has grown */
		} else {
			r = follow_offer(e, path);
		}
	} else if (event->mask & FOLLOW_MASK_GONE) {
		/* A file's name may be one that its origin does not take. */
		s = follow_find(e, follow_has_path, path);
		if (s)
			s->gone = s->stale = true;
	}
	free(path);
	return r;
}

/* A directory is not watched any more: everything of it has its own events. */
static void follow_unwatch(struct follow *f, int wd)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->watch_count; i++) {
		if (f->watches[i].wd == wd)
			free(f->watches[i].path);
		else
			f->watches[kept++] = f->watches[i];
	}
	f->watch_count = kept;
}

/* Takes one event to all watches of its directory. */
static int follow_event(struct jscan *e, const struct inotify_event *event)
{
	struct follow *f = e->follow;
	size_t count = f->watch_count; /* more may come meanwhile */
	int r = 0;

	if (event->mask & (IN_Q_OVERFLOW | IN_UNMOUNT | IN_DELETE_SELF | IN_MOVE_SELF))
		f->lost = true;
	if (event->mask & IN_IGNORED)
		follow_unwatch(f, event->wd);
	else if (event->len > 0)
		for (size_t i = 0; i < count && r == 0; i++) {
			struct follow_watch w = f->watches[i]; /* which may move */

			if (w.wd == event->wd)
				r = follow_take_event(e, &w, event);
		}
	return r;
}

/* Looks at everything, since it is not known what has changed. */
static int follow_look_at_all(struct jscan *e)
{
	struct stat st;

	for (size_t i = 0; i < e->source_count; i++) {
		struct source *s = e->sources[i];

		if (s->error || s->given || s->dropped)
			continue;
		if (stat(s->path, &st) < 0 || !follow_has_inode(s, &st))
			s->gone = s->stale = true; /* unless it turns up under another name */
	}
	return discover_again(e);
}

int follow_read_events(struct jscan *e)
{
	_Alignas(struct inotify_event) char buffer[FOLLOW_EVENT_BYTES];
	struct follow *f = e->follow;
	uint64_t ticks;
	ssize_t n;
	int r = 0;

	while (f->inotify_fd >= 0 && r == 0 &&
	       (n = read(f->inotify_fd, buffer, sizeof(buffer))) > 0) {
		const char *at = buffer;

		while (r == 0 && at < buffer + n) {
			const struct inotify_event *event = (const struct inotify_event *)at;

			r = follow_event(e, event);
			at += sizeof(*event) + event->len;
		}
	}
	if (f->timer_fd >= 0 && read(f->timer_fd, &ticks, sizeof(ticks)) > 0)
		f->lost = true;
	if (r == 0 && f->lost) {
		f->lost = false;
		r = follow_look_at_all(e);
	}
	return r;
}
