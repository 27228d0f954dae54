/* SPDX-License-Identifier: MIT */
/*
 * jscan: reads many systemd journal files at once and yields their entries in journalctl's order.
 *
 * One engine (struct jscan) is one scan over one set of files. Add the files, say what is wanted
 * (matches, bounds, direction), then drive it in one of three ways:
 *
 *   push    jscan_run() feeds every attached sink and blocks until the scan has ended;
 *   pull    jscan_next() hands out one entry at a time;
 *   foreign jscan_fd(), jscan_events(), jscan_timeout() and jscan_process() live in an event loop
 *           that the program already has.
 *
 * Conventions. Functions return a negative errno on failure, 0 when done, and a positive answer
 * where one is documented. Out-parameters come last, are named ret_*, and are written on success
 * only. Times are microseconds: realtime since 1970-01-01 UTC, monotonic since the boot. What is
 * "borrowed" belongs to the engine and is valid until the next call that steps it (jscan_next(),
 * jscan_process(), any seek) or, in a sink, until the slot returns. The library prints nothing,
 * installs no signal handler, keeps no global state, and starts a thread only where an option
 * allows it. An engine is used by one thread at a time; two engines never share anything.
 *
 * Errors with a fixed meaning: -EINVAL the caller's mistake, -EBADMSG damaged bytes,
 * -EPROTONOSUPPORT an unknown incompatible flag, -EAGAIN nothing is ready yet, -ECANCELED the
 * engine is closing, -ECHILD the engine was carried over a fork, -EOPNOTSUPP not provided by this
 * build or release.
 *
 * The whole interface is experimental before version 1.0: names and structures may still change.
 */
#ifndef JSCAN_H
#define JSCAN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define JSCAN_API __attribute__((visibility("default")))
#else
#define JSCAN_API
#endif

/* ---- plain types ------------------------------------------------------------------------ */

#define JSCAN_VERSION_MAJOR 0
#define JSCAN_VERSION_MINOR 1
#define JSCAN_VERSION_PATCH 0

/* The version of the library that runs, as "0.1.0". Static storage. */
JSCAN_API const char *jscan_version(void);

struct jscan;       /* an engine */
struct jscan_entry; /* one entry, borrowed or kept with jscan_entry_dup() */

/* A 128-bit ID, in the order in which its hex digits are printed. */
typedef struct jscan_id {
	uint8_t bytes[16];
} jscan_id;

/* The form of an ID in text: 32 lower-case hex digits and a NUL. */
#define JSCAN_ID_TEXT_SIZE 33

/* Writes ID as text into TEXT, which holds JSCAN_ID_TEXT_SIZE bytes. Returns TEXT. */
JSCAN_API char *jscan_id_format(const jscan_id *id, char *text);

/* Parses 32 hex digits of either case. -EINVAL for anything else. */
JSCAN_API int jscan_id_parse(const char *text, jscan_id *ret_id);

/* ---- options and life ------------------------------------------------------------------- */

enum jscan_io {
	JSCAN_IO_AUTO = 0,    /* a ring; where it is refused, threads */
	JSCAN_IO_URING = 1,   /* a ring, or creation fails */
	JSCAN_IO_THREADS = 2, /* a pool of threads that call pread() */
	JSCAN_IO_SYNC = 3     /* pread() on the calling thread */
};

enum jscan_plan {
	JSCAN_PLAN_AUTO = 0, /* matches are resolved through the files' indexes */
	JSCAN_PLAN_SCAN = 1  /* every entry is read and tested: the reference path for tests */
};

/* jscan_options.jobs: the processors that the process may use, by its affinity and its cgroup. */
#define JSCAN_JOBS_AUTO UINT32_MAX

/* What reading leaves behind in the kernel's page cache. The bytes are the same. */
enum jscan_cache {
	JSCAN_CACHE_KEEP = 0, /* what was read */
	JSCAN_CACHE_DROP,     /* only what was there before; of files of other users, on a kernel or
			       * file system without RWF_DONTCACHE, what was read */
	JSCAN_CACHE_DIRECT    /* the same, and files are read past it, but for their beginnings,
			       * files that are being written, that were added as descriptors or
			       * are followed, and where the file system refuses: these are
			       * read as with JSCAN_CACHE_DROP */
};

/*
 * How an engine is set up. Fill with JSCAN_OPTIONS_INIT, then set what matters: zero always means
 * the default. A structure shorter than the library's is extended with zeros; a longer one whose
 * tail is not zero is refused with -E2BIG.
 */
struct jscan_options {
	size_t size;             /* sizeof(struct jscan_options) of the caller */
	uint64_t memory_bytes;   /* budget for file contents, all files together; default: the
				  * least of 128 MiB and a quarter of the cgroup's limit; at least
				  * 4 MiB */
	uint32_t io;             /* enum jscan_io */
	uint32_t queue_depth;    /* reads in flight at most; default 64 */
	uint32_t io_threads;     /* threads of the "threads" method; default 4 */
	uint32_t jobs;           /* processors to format entries on, JSCAN_JOBS_AUTO: those that
				  * there are; default 1: no thread is started. See jscan_run() */
	uint32_t files_open_max; /* descriptors kept open at most; default: half of RLIMIT_NOFILE,
				  * at most 512 */
	uint32_t plan;           /* enum jscan_plan */
	uint64_t field_bytes_max; /* largest value that is decompressed; default: an eighth of
				   * memory_bytes, at most 768 MiB */
	uint32_t slice_usec;     /* jscan_process(), jscan_next() stop after this; default 1000 */
	uint32_t slice_bytes;    /* ... or after this many bytes of entries; default 1 MiB */
	uint64_t unpack_bytes_max; /* of what one compressed file unpacks to; default 4 GiB */
	uint32_t cache;          /* enum jscan_cache */
	uint32_t reserved;       /* 0 */
	uint64_t limit_rate;     /* bytes read from files in a second; default: as many as come.
				  * Up to an eighth of it is read at once */
};

#define JSCAN_OPTIONS_INIT \
	{ sizeof(struct jscan_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/*
 * Makes an engine. OPTIONS may be NULL. Neither a ring nor a thread is made before the first call
 * that needs one. The caller owns the result and ends it with jscan_free().
 */
JSCAN_API int jscan_new(const struct jscan_options *options, struct jscan **ret_engine);

/* Ends an engine: cancels what is in flight, waits for it, closes and frees. Accepts NULL.
 * Returns NULL. Sinks whose begin() ran get no end(): the scan did not finish. */
JSCAN_API struct jscan *jscan_free(struct jscan *engine);

/* ---- which files ------------------------------------------------------------------------ */
/*
 * A journal that is compressed as a whole, with zstd, xz, gzip or in LZ4 frames, is recognised by
 * its first bytes, whatever its name, and read like any other. When the files are opened it is
 * unpacked, one at a time and in slices, into a file without a name in $TMPDIR, /var/tmp or /tmp,
 * which takes disk space (but for blocks of zeros) and a descriptor of its own beside those of
 * files_open_max until the engine is freed. Offsets in it are those of the unpacked file.
 */

#define JSCAN_TAKE_FD (1u << 0)       /* jscan_add_fd(): the engine closes the descriptor */
#define JSCAN_ADD_LITERAL (1u << 1)   /* jscan_add_file(): PATH is no glob pattern */
#define JSCAN_ADD_ALL_MACHINES (1u << 2) /* jscan_add_system(): journals of other machines too */

/*
 * Adds a file. PATH is a glob pattern; without a match it is taken literally. The file is opened
 * later; a file that cannot be used is then reported as a problem and left out.
 */
JSCAN_API int jscan_add_file(struct jscan *engine, const char *path, unsigned flags);

/*
 * Adds the journal files of a directory: names that end in .journal or .journal~, also with .zst,
 * .xz, .gz or .lz4 behind it, there and in its sub-directories that are named by a 128-bit ID.
 * -ENOENT and other errors of opening PATH itself are returned; everything below it is reported as
 * a problem.
 */
JSCAN_API int jscan_add_directory(struct jscan *engine, const char *path, unsigned flags);

/* Adds an open regular file, shown in messages as NAME. Borrowed unless JSCAN_TAKE_FD is given;
 * a borrowed descriptor must stay open as long as the engine. */
JSCAN_API int jscan_add_fd(struct jscan *engine, int fd, const char *name, unsigned flags);

/* Copies what FD has, up to its end, into a file without a name (as compressed files are unpacked)
 * and adds that, shown in messages as NAME: for pipes. Blocks until the other side has closed it.
 * -EFBIG if it has more than unpack_bytes_max; what reading and writing gave. FD is borrowed for
 * the call. */
JSCAN_API int jscan_add_stream(struct jscan *engine, int fd, const char *name);

/* Whether PATH is a regular file that begins like a journal, compressed or not, or a compressed one
 * that takes too much memory to say. 1 or 0; it reads the beginning, and blocks for that. */
JSCAN_API int jscan_is_journal(const char *path);

/* Adds the machine's own journals: /run/log/journal and /var/log/journal. */
JSCAN_API int jscan_add_system(struct jscan *engine, unsigned flags);

#define JSCAN_PLACES_SYSTEM (1u << 0)       /* the system's files only, */
#define JSCAN_PLACES_USER (1u << 1)         /* ... and, or, those of the calling user */
#define JSCAN_PLACES_ALL_MACHINES (1u << 2) /* journals of other machines too */

/* Where to look for journal files, and which to take. Zero means the default. */
struct jscan_places {
	size_t size;               /* sizeof(struct jscan_places) of the caller */
	const char *directory;     /* as jscan_add_directory() does; NULL: the machine's */
	const char *root;          /* the machine's as found below this directory: of any machine */
	const char *log_namespace; /* of the machine's: "NAME", "+NAME" (it and what is in none),
				    * "*" (all); NULL or "": what is in none */
	uint32_t flags;            /* JSCAN_PLACES_* */
};

/* Adds the files of some places. -ENOENT and the like if the directory cannot be read; what is
 * missing of the machine's is no error. */
JSCAN_API int jscan_add_places(struct jscan *engine, const struct jscan_places *places);

/* ---- which entries ---------------------------------------------------------------------- */

/*
 * Adds the match "FIELD=VALUE" of SIZE bytes. Values of one field are alternatives, different
 * fields must all hold. jscan_match_or() starts another alternative of the current group;
 * jscan_match_and() starts another group, all of which must hold. -EINVAL if the field name is
 * empty, begins with "__" or has other characters than A-Z, 0-9 and "_".
 */
JSCAN_API int jscan_match(struct jscan *engine, const void *data, size_t size);
JSCAN_API int jscan_match_or(struct jscan *engine);
JSCAN_API int jscan_match_and(struct jscan *engine);
JSCAN_API void jscan_match_flush(struct jscan *engine);

enum jscan_case {
	JSCAN_CASE_AUTO = 0, /* sensitive if the pattern has an upper-case ASCII letter */
	JSCAN_CASE_SENSITIVE,
	JSCAN_CASE_IGNORED
};

/*
 * Yields only entries whose first MESSAGE field matches a PCRE2 pattern; NULL: all again. Then a
 * limit counts entries that match; a tail is counted before. -EINVAL: the pattern is bad, TEXT
 * (SIZE bytes, may be NULL) says why; -EOPNOTSUPP: built without PCRE2. Matching itself can fail
 * too, on patterns that backtrack without end: the scan then ends with -EINVAL, and
 * jscan_grep_failure() says why.
 */
JSCAN_API int jscan_set_grep(struct jscan *engine, const char *pattern, enum jscan_case sensitivity,
			     char *text, size_t size);
JSCAN_API const char *jscan_grep_failure(const struct jscan *engine);

enum jscan_direction { JSCAN_FORWARD = 0, JSCAN_BACKWARD = 1 };

/* The direction of reading, from the position that a seek set (by default the oldest entry when
 * reading forward, the newest when reading backward). */
JSCAN_API int jscan_set_direction(struct jscan *engine, enum jscan_direction direction);

/*
 * Bounds on the entries' realtime, both inclusive; 0 and UINT64_MAX mean none. Reading starts at
 * the first entry inside by bisection; where journalctl stops at the first entry beyond the far
 * bound, so does this. A seek sets where reading starts instead; reading backward from above the
 * upper bound then ends at once.
 */
JSCAN_API int jscan_set_bounds(struct jscan *engine, uint64_t since_usec, uint64_t until_usec);

/*
 * Whether bounds are complete. Then every entry between them is yielded, in the order of the merge,
 * also where the clock stepped and the entries around it lie outside; a tail and a limit count only
 * what is inside. All entries are looked at, where ordinary bounds save reading. Off by default.
 */
JSCAN_API int jscan_set_complete(struct jscan *engine, int complete);

/* Yields COUNT entries at most. */
JSCAN_API int jscan_set_limit(struct jscan *engine, uint64_t count);

/* Reads forward over the last COUNT entries (those that reading backward from the end, or from the
 * upper bound, meets first). */
JSCAN_API int jscan_set_tail(struct jscan *engine, uint64_t count);

/*
 * Seeks set where reading starts; the next step does the work. They may be called at any time
 * outside a sink and drop borrowed views. A position between two entries is the one after it when
 * reading forward and the one before it when reading backward.
 */
JSCAN_API int jscan_seek_head(struct jscan *engine);
JSCAN_API int jscan_seek_tail(struct jscan *engine);
JSCAN_API int jscan_seek_realtime(struct jscan *engine, uint64_t usec);
JSCAN_API int jscan_seek_monotonic(struct jscan *engine, const jscan_id *boot_id, uint64_t usec);
JSCAN_API int jscan_seek_seqnum(struct jscan *engine, const jscan_id *seqnum_id, uint64_t seqnum);

/* Seeks to a cursor as printed by jscan_entry_cursor() or journalctl. -EINVAL if it does not
 * parse. jscan_test_cursor() answers 1 if ENTRY is the cursor's own, 0 if it is another. */
JSCAN_API int jscan_seek_cursor(struct jscan *engine, const char *cursor);
/* The same, but the entry whose own cursor it is is passed over. */
JSCAN_API int jscan_seek_after_cursor(struct jscan *engine, const char *cursor);
JSCAN_API int jscan_test_cursor(const struct jscan_entry *entry, const char *cursor);

enum jscan_seek_answer {
	JSCAN_SEEK_EXACT = 0, /* the entry is in the files */
	JSCAN_SEEK_NEAREST,   /* it is not, since its file was removed for example, but others of
			       * its sequence are: reading begins with the next of those (backward:
			       * the one before it), unless another machine's comes first */
	JSCAN_SEEK_GONE       /* no file counts by its sequence of numbers: where reading begins is
			       * a matter of boot and time only */
};

/*
 * Whether the last seek, to a cursor with a sequence number or to a number, has found its entry.
 * Whether that matches does not count. Opens the files if they are not, may read a little, and
 * blocks; the position stays. -EINVAL: the last seek was another; -EBUSY: after jscan_fd().
 */
JSCAN_API int jscan_seek_result(struct jscan *engine, enum jscan_seek_answer *ret_answer);

/* ---- entries and fields ----------------------------------------------------------------- */

/* The header of an entry. Borrowed like the entry it was asked of. */
struct jscan_entry_info {
	size_t size;             /* of the library's structure: later releases append */
	uint64_t seqnum;
	uint64_t realtime_usec;
	uint64_t monotonic_usec;
	uint64_t hash;           /* the stored xor of the fields' hashes */
	jscan_id boot_id;
	jscan_id seqnum_id;
	const char *path;        /* the file that it was read from */
	uint64_t offset;         /* where in that file */
};

/* One field. Neither name nor value is NUL-terminated; a value may hold any byte. */
struct jscan_field {
	size_t size;
	const char *name;
	size_t name_size;
	const void *value;       /* NULL if the value is large: see jscan_field_read() */
	uint64_t value_size;
	uint32_t flags;
	uint32_t index;          /* of the field in its entry */
};

#define JSCAN_FIELD_LARGE (1u << 0)     /* more than JSCAN_FIELD_WHOLE_MAX bytes: read in pieces */
#define JSCAN_FIELD_TRUNCATED (1u << 1) /* decompressed up to jscan_options.field_bytes_max only */

#define JSCAN_FIELD_WHOLE_MAX 65536u

/* The header of an entry. Never fails. */
JSCAN_API const struct jscan_entry_info *jscan_entry_info(const struct jscan_entry *entry);

/* Size of a cursor's text with its NUL, at most. */
#define JSCAN_CURSOR_SIZE 200
/* Writes the cursor of ENTRY into TEXT, which holds JSCAN_CURSOR_SIZE bytes. Returns TEXT. */
JSCAN_API char *jscan_entry_cursor(const struct jscan_entry *entry, char *text);

/*
 * The fields of an entry, in stored order. Set *STATE to 0 before the first call. 1: *ret_field is
 * the next field; 0: there are no more. Fields that are damaged are left out (and reported as
 * problems). RET_FIELD->size must be set by the caller.
 */
JSCAN_API int jscan_entry_next_field(const struct jscan_entry *entry, size_t *state,
				     struct jscan_field *ret_field);

/* The first field named NAME (NUL-terminated). 1 found, 0 not there. */
JSCAN_API int jscan_entry_field(const struct jscan_entry *entry, const char *name,
				struct jscan_field *ret_field);

/*
 * Copies up to SIZE bytes of a field's value, from OFFSET on, into BUFFER. Returns the number of
 * bytes copied, 0 at the end. It may answer -EAGAIN when driven from a foreign loop.
 */
JSCAN_API ssize_t jscan_field_read(const struct jscan_entry *entry, const struct jscan_field *field,
				   uint64_t offset, void *buffer, size_t size);

/* Keeps an entry with all its fields beyond the engine's next step. The caller owns the copy and
 * frees it with jscan_entry_free(), which accepts NULL and returns NULL. */
JSCAN_API int jscan_entry_dup(const struct jscan_entry *entry, struct jscan_entry **ret_entry);
JSCAN_API struct jscan_entry *jscan_entry_free(struct jscan_entry *entry);

/*
 * The cursor of the entry that reading has come to: the last one that was yielded, or tested in
 * vain, or that lay beyond the far bound and so ended the scan. TEXT holds JSCAN_CURSOR_SIZE bytes.
 * 1; 0 if no entry has been read since the last seek.
 */
JSCAN_API int jscan_position_cursor(const struct jscan *engine, char *text);

/* ---- problems --------------------------------------------------------------------------- */

enum jscan_reason {
	JSCAN_REASON_OPEN = 1,    /* a file could not be opened; error says why */
	JSCAN_REASON_READ,        /* bytes could not be read (I/O error, file shrank) */
	JSCAN_REASON_HEADER,      /* the file header is not acceptable */
	JSCAN_REASON_FEATURE,     /* an unknown incompatible flag; detail names the bit */
	JSCAN_REASON_TRUNCATED,   /* the file is shorter than its header says */
	JSCAN_REASON_OBJECT,      /* an object is damaged */
	JSCAN_REASON_CHAIN,       /* an entry array or hash chain is damaged */
	JSCAN_REASON_PAYLOAD,     /* a field could not be decompressed */
	JSCAN_REASON_FIELD_NAME,  /* a field has no acceptable name */
	JSCAN_REASON_LIMIT,       /* a limit of this engine was met; detail names it */
	JSCAN_REASON_CATALOG,     /* what the catalog says about an entry cannot be looked up, as
				   * journalctl says "Failed to find catalog entry: ...": -EINVAL
				   * for a MESSAGE_ID that is no ID, else the output's
				   * catalog_error. Once an entry and lookup; path is the
				   * catalog's */
	JSCAN_REASON_UNPACK,      /* a compressed file could be unpacked in part only, and is used
				   * as far as that goes; offset is in the compressed file */
	JSCAN_REASON_WATCH        /* a follower cannot watch any more, and looks at intervals */
};

/* Something that could not be read. The scan goes on without it. Borrowed for the call. */
struct jscan_problem {
	size_t size;
	enum jscan_reason reason;
	int error;               /* negative errno */
	const char *path;
	uint64_t offset;         /* in the file; 0 where the file as a whole is meant */
	const char *detail;      /* one English clause, without a full stop */
};

/* Called for every problem, on the engine's thread, beside the sinks' problem slots. */
typedef void (*jscan_problem_fn)(void *userdata, const struct jscan_problem *problem);
JSCAN_API void jscan_set_problem_handler(struct jscan *engine, jscan_problem_fn handler,
					 void *userdata);

/* ---- traces ----------------------------------------------------------------------------- */

enum jscan_trace_kind {
	JSCAN_TRACE_OPEN = 1, /* a file: size_bytes long */
	JSCAN_TRACE_WANTED,   /* a range that decoding lacks */
	JSCAN_TRACE_EXPECTED, /* ... that is read ahead */
	JSCAN_TRACE_READ,     /* blocks that came in */
	JSCAN_TRACE_HIT,      /* blocks in memory that have been used since they were last named */
	JSCAN_TRACE_EVICTED,  /* blocks that made room */
	JSCAN_TRACE_CLOSE
};

/* Something that happened to the contents of a file. Borrowed for the call. */
struct jscan_trace_event {
	size_t size;
	enum jscan_trace_kind kind;
	uint32_t file;           /* a number that stands for the file as long as the engine lives */
	const char *path;        /* of the file */
	uint64_t offset;         /* in the file */
	uint64_t size_bytes;
};
typedef void (*jscan_trace_fn)(void *userdata, const struct jscan_trace_event *event);

/*
 * Calls HANDLER, on the engine's thread, for all that is read and used of the files, until the
 * engine has been freed; NULL: for nothing. Later than before the first step: -EBUSY. What is used
 * is told from time to time, in the order of the files' offsets. A scan that is traced takes
 * longer, and chooses a little differently which blocks leave when memory is short; what it yields
 * is the same.
 */
JSCAN_API int jscan_set_trace(struct jscan *engine, jscan_trace_fn handler, void *userdata);

/* ---- driving ---------------------------------------------------------------------------- */

/*
 * Opens the files and reads their headers, as jscan_next() and jscan_run() would first of all, so
 * that the caller learns what there is (through the problem handler and jscan_files_usable())
 * before it begins. Blocks. May be left out.
 */
JSCAN_API int jscan_open(struct jscan *engine);

/* How many files were added, and how many of them can be read (after jscan_open()). */
JSCAN_API size_t jscan_files_added(const struct jscan *engine);
JSCAN_API size_t jscan_files_usable(const struct jscan *engine);

/*
 * The next entry. 1: *ret_entry is borrowed until the next step; 0: there are no more. It blocks
 * until one is there, unless jscan_fd() was called before: then it answers -EAGAIN, and goes on
 * after jscan_process().
 */
JSCAN_API int jscan_next(struct jscan *engine, const struct jscan_entry **ret_entry);

/*
 * Feeds all attached sinks until the scan has ended. 0: ended; 1: a sink asked to stop; negative:
 * out of memory, a dead ring, or a sink's error.
 *
 * With jscan_options.jobs above 1, and if all sinks have a format slot, long scans are formatted on
 * that many threads, the caller's own being one of them: they are started when some hundreds of
 * entries have been read, have all signals blocked, and sleep between scans until the engine is
 * freed. Together they take up to 32 MiB beside the budget for file contents, and their stacks.
 * What the sinks are given, and in which order, is the same.
 */
JSCAN_API int jscan_run(struct jscan *engine);

/*
 * For a foreign loop: a descriptor to poll (an eventfd, made on the first call; a wake-up may find
 * nothing to do), the poll events to wait for, the time until jscan_process() wants to be called
 * anyway (microseconds; UINT64_MAX: never), and the turn itself, which never blocks: 1 if an entry
 * is ready or sinks have been fed and there is more to do at once, 0 if it waits for the
 * descriptor, -ENODATA at the end.
 */
/*
 * What never blocking means. Reads go to the kernel's worker threads (IOSQE_ASYNC), and so do opens
 * that the kernel cannot answer from its caches; there are at most 32 of these for files. A turn
 * ends after slice_usec or slice_bytes, checked after each entry; call_usec_max of struct
 * jscan_stats is the longest one. With JSCAN_IO_AUTO, where a ring is refused, one thread reads;
 * with JSCAN_IO_URING jscan_fd() fails then, and with JSCAN_IO_SYNC reads do block. Adding
 * directories reads them on the spot, and so does a follower with a directory that has turned up.
 * Sinks are called in turns: what they wait for delays the loop.
 */
JSCAN_API int jscan_fd(struct jscan *engine);
JSCAN_API int jscan_events(struct jscan *engine);
JSCAN_API int jscan_timeout(struct jscan *engine, uint64_t *ret_usec);
JSCAN_API int jscan_process(struct jscan *engine);

/* Why there is no ring, and what to do about that: a clause in static storage, once the engine has
 * tried to make one and was refused; else NULL. */
JSCAN_API const char *jscan_io_hint(const struct jscan *engine);

/* Makes a running jscan_run() return as if a sink had answered 1. The one function that may be
 * called from a signal handler or another thread. It also wakes a jscan_next() that waits for a
 * follower's next entry, and has it answer 0. */
JSCAN_API void jscan_stop(struct jscan *engine);

/* ---- sinks ------------------------------------------------------------------------------ */

/*
 * A sink is where entries go. Set size to sizeof(struct jscan_sink_ops) and fill the slots that
 * matter; later releases add slots at the end only. Either entry, or format and write, must be
 * set. Slots return 0 to go on, 1 to stop cleanly (end still runs), or a negative errno to abort
 * (end does not run).
 *
 *   begin -> ( problem | entry | format -> write | flush )* -> end
 *
 * entry runs on the engine's thread, in order. -EAGAIN from it is back-pressure: the same entry is
 * offered again later. format is pure: it turns an entry into bytes appended to BUFFER, may run on
 * any thread and in any order, and must use nothing but its arguments and what does not change;
 * write gets those bytes in order, on the engine's thread, those of some whole entries at a time.
 * flush comes before the engine sleeps, so that a sink may gather small writes.
 *
 * With several sinks on a scan each entry is read once, and goes to them in the order in which they
 * were attached. One that aborts ends the scan for all: jscan_failed_sink() tells which it was.
 */
struct jscan_buffer; /* grows by jscan_buffer_append() */

struct jscan_entry_context {
	size_t size;
	uint64_t ordinal;            /* of the entry in the scan, from 0 */
	int has_previous;
	jscan_id previous_boot_id;   /* of the entry before it, whether or not a sink showed it */
};

struct jscan_sink_ops {
	size_t size;
	const char *name;
	int (*begin)(void *userdata, struct jscan *engine);
	int (*entry)(void *userdata, const struct jscan_entry *entry,
		     const struct jscan_entry_context *context);
	int (*format)(const void *userdata, const struct jscan_entry *entry,
		      const struct jscan_entry_context *context, struct jscan_buffer *buffer);
	int (*write)(void *userdata, const void *data, size_t size);
	int (*problem)(void *userdata, const struct jscan_problem *problem);
	int (*flush)(void *userdata);
	int (*end)(void *userdata);
	void (*free)(void *userdata); /* when the engine is freed, whatever happened before */
	const char *const *fields;    /* NULL: all; or names, ended by NULL: the sink is shown
				       * these fields of an entry only, and others need not be
				       * read; copied */
};

/* Appends SIZE bytes. -ENOMEM. */
JSCAN_API int jscan_buffer_append(struct jscan_buffer *buffer, const void *data, size_t size);

/* Attaches a sink; several may be attached. OPS is copied, USERDATA is the caller's. */
JSCAN_API int jscan_add_sink(struct jscan *engine, const struct jscan_sink_ops *ops,
			     void *userdata);

/*
 * Which sink ended the last scan by answering with an error: its number, from 0, in the order in
 * which sinks and outputs were attached. -1: none.
 */
JSCAN_API int jscan_failed_sink(const struct jscan *engine);

/* ---- sinks from shared objects ---------------------------------------------------------- */
/*
 * A shared object becomes a sink by exporting one constant:
 *
 *   const struct jscan_sink_module jscan_sink_module = {
 *           sizeof(struct jscan_sink_module), JSCAN_SINK_MODULE_VERSION, 0, "mine", mine_open
 *   };
 */
#define JSCAN_SINK_MODULE_VERSION 1
#define JSCAN_SINK_MODULE_SYMBOL "jscan_sink_module"

struct jscan_sink_module {
	size_t size;             /* sizeof(struct jscan_sink_module) of the object */
	uint32_t version;        /* JSCAN_SINK_MODULE_VERSION: of what slots mean. An object of
				  * another version is refused */
	uint32_t reserved;       /* 0 */
	const char *name;
	/* Makes a sink: its table, which stays where it is, and what its slots are called with;
	 * their free slot ends it. ARGUMENT is the user's, or NULL. A negative errno refuses,
	 * with the reason in TEXT (SIZE bytes, empty before). */
	int (*open)(const char *argument, const struct jscan_sink_ops **ret_ops,
		    void **ret_userdata, char *text, size_t size);
};

/*
 * Loads a shared object, PATH as for dlopen(3), and attaches the sink that it makes. FIELDS, unless
 * NULL, take the place of what its table says. TEXT (SIZE bytes, may be NULL) says why it is
 * refused: -ELIBACC it cannot be loaded; -ELIBBAD it is no such object, of another version, or its
 * table lacks what a sink needs; or what its open answered. It is unloaded after the sink's free
 * slot, when the engine is freed. The object runs as part of the program: load none that is not
 * trusted.
 */
JSCAN_API int jscan_add_sink_module(struct jscan *engine, const char *path, const char *argument,
				    const char *const *fields, char *text, size_t size);

/* ---- the built-in output ---------------------------------------------------------------- */

enum jscan_mode {
	JSCAN_MODE_SHORT = 0,
	JSCAN_MODE_SHORT_FULL,
	JSCAN_MODE_SHORT_ISO,
	JSCAN_MODE_SHORT_ISO_PRECISE,
	JSCAN_MODE_SHORT_PRECISE,
	JSCAN_MODE_SHORT_MONOTONIC,
	JSCAN_MODE_SHORT_DELTA,
	JSCAN_MODE_SHORT_UNIX,
	JSCAN_MODE_WITH_UNIT,
	JSCAN_MODE_VERBOSE,
	JSCAN_MODE_EXPORT,
	JSCAN_MODE_JSON,
	JSCAN_MODE_JSON_PRETTY,
	JSCAN_MODE_JSON_SSE,
	JSCAN_MODE_JSON_SEQ,
	JSCAN_MODE_CAT,
	JSCAN_MODE_JSON_STABLE /* not one of journalctl's: see jscan(1) */
};

#define JSCAN_OUTPUT_ALL (1u << 0)              /* journalctl --all */
#define JSCAN_OUTPUT_UTC (1u << 1)              /* --utc */
#define JSCAN_OUTPUT_NO_HOSTNAME (1u << 2)      /* --no-hostname */
#define JSCAN_OUTPUT_TRUNCATE_NEWLINE (1u << 3) /* --truncate-newline */
#define JSCAN_OUTPUT_BOOT_LINES (1u << 4)       /* "-- Boot ... --" between boots */
#define JSCAN_OUTPUT_SHORTEN (1u << 5)          /* --no-full: lines are shortened to width, and
						 * verbose leaves long values out */
#define JSCAN_OUTPUT_LINKS (1u << 6)            /* $SYSTEMD_URLIFY: links to documentation and to
						 * configuration files, for terminals */
#define JSCAN_OUTPUT_CATALOG (1u << 7)          /* --catalog: explanations behind messages */
#define JSCAN_OUTPUT_ASCII (1u << 8)            /* the locale is not one of UTF-8: ellipses and
						 * marks are made of ASCII */
#define JSCAN_OUTPUT_NO_UNDERLINE (1u << 9)     /* $TERM is "linux", which shows it badly */

#define JSCAN_OUTPUT_LENIENT (1u << 10)         /* text modes show values that are not printable,
						 * with \xNN for each byte that is not, where they
						 * print "[5B blob data]" otherwise; in such values
						 * a backslash is doubled */

/* How many colours are sent, as sequences for a terminal. */
enum jscan_colours {
	JSCAN_COLOURS_NONE = 0,
	JSCAN_COLOURS_16,
	JSCAN_COLOURS_256,
	JSCAN_COLOURS_24BIT
};

/* How what is written is compressed. */
enum jscan_compression {
	JSCAN_COMPRESSION_NONE = 0,
	JSCAN_COMPRESSION_ZSTD,
	JSCAN_COMPRESSION_LZ4
};

struct jscan_catalog;

/*
 * Fill with { sizeof(struct jscan_output) }, then set what matters: zero always means the default.
 * A structure shorter than the library's is extended with zeros, down to that of the first release,
 * which ended behind fields; a longer one whose tail is not zero is refused with -E2BIG.
 */
struct jscan_output {
	size_t size;
	uint32_t mode;               /* enum jscan_mode */
	uint32_t flags;              /* JSCAN_OUTPUT_* */
	const char *const *fields;   /* --output-fields: NULL, or names ended by NULL; copied */
	uint32_t colours;            /* enum jscan_colours; a match of jscan_set_grep() is shown */
	uint32_t width;              /* columns of a line with JSCAN_OUTPUT_SHORTEN; default 80 */
	const char *const *excluded; /* --exclude-identifier: NULL, or identifiers ended by NULL
				      * whose entries the short modes do not show; copied */
	const struct jscan_catalog *catalog; /* borrowed until the engine is freed; NULL: none.
					      * JSCAN_OUTPUT_LINKS looks for documentation in it */
	int32_t catalog_error;       /* why there is no catalog, as jscan_catalog_open() answered:
				      * told for each entry that would need one, unless 0 or
				      * -ENOENT */
	uint32_t reserved;           /* 0 */
	const char *node_name;       /* in links to files; NULL: this machine's; copied */
	uint32_t compression;        /* enum jscan_compression: FD gets standard frames one behind
				      * the other, which together hold what it would have got; at
				      * least one, even if that is nothing. Where frames end may
				      * differ from run to run */
	uint32_t compression_level;  /* of zstd, 1 to 19; 0: the default, 3. LZ4 has none: 0 */
};

/*
 * Attaches a sink that writes what journalctl would print to FD, which is borrowed. A pipe that is
 * given much is made to hold up to 1 MiB, where the system allows that. -EINVAL for an unknown mode
 * or flag.
 */
JSCAN_API int jscan_add_output(struct jscan *engine, const struct jscan_output *output, int fd);

/* What entries have in common that go to one file. */
enum jscan_split_key {
	JSCAN_SPLIT_UNIT = 0, /* _SYSTEMD_UNIT */
	JSCAN_SPLIT_BOOT,     /* the entry's boot ID */
	JSCAN_SPLIT_DAY,      /* of the entry's realtime, local or, with JSCAN_OUTPUT_UTC, in UTC */
	JSCAN_SPLIT_HOST      /* _HOSTNAME */
};

struct jscan_split {
	size_t size;             /* sizeof(struct jscan_split) of the caller */
	const char *directory;   /* made if it is not there; copied */
	uint32_t key;            /* enum jscan_split_key */
	uint32_t files_open_max; /* descriptors kept open at most; default 64 */
};

/*
 * Attaches a sink that writes each entry as OUTPUT says to one of several files in a directory. A
 * file is named by the key's value, bytes other than letters, digits and :_.@- (and a dot in front)
 * as \xNN, long values cut and told apart by a hash; "none" is that of entries without the field,
 * "other" of all values beyond 65536. Behind that comes .log, .export or .json, and .zst or .lz4.
 * What was in a file of that name is lost. There are no lines between boots, and no short-delta,
 * which is refused with -EINVAL. -errno of making and opening the directory.
 */
JSCAN_API int jscan_add_split(struct jscan *engine, const struct jscan_output *output,
			      const struct jscan_split *split);

/* The mode of a name such as "short" or "json". -EINVAL if there is none. */
JSCAN_API int jscan_mode_parse(const char *name, enum jscan_mode *ret_mode);

/* ---- the message catalog ---------------------------------------------------------------- */
/*
 * Texts that explain messages, by the ID that a message carries in MESSAGE_ID. systemd compiles
 * them into one database, which is read into memory here. A catalog does not change and may be used
 * by several engines and threads at once.
 */

/* Where the database is, below the root. */
#define JSCAN_CATALOG_PATH "/var/lib/systemd/catalog/database"

/* A text. Nothing of it ends with a NUL; borrowed from the catalog. */
struct jscan_catalog_text {
	size_t size;
	jscan_id id;
	const char *text;
	size_t text_size;
	const char *subject;     /* value of the header line "Subject:"; NULL: there is none */
	size_t subject_size;
	const char *defined_by;  /* of "Defined-By:" */
	size_t defined_by_size;
};
typedef int (*jscan_catalog_fn)(void *userdata, const struct jscan_catalog_text *text);

/*
 * Reads a database; PATH NULL means JSCAN_CATALOG_PATH. Texts are in the language of LOCALE, as
 * setlocale(LC_MESSAGES, NULL) answers, where there are such, else (and for NULL) in the original.
 * -EBADMSG: it is no database; -EFBIG: it is larger than 64 MiB; or what opening and reading it
 * gave. The caller owns the result and ends it with jscan_catalog_free(), which accepts NULL and
 * returns NULL.
 */
JSCAN_API int jscan_catalog_open(const char *path, const char *locale,
				 struct jscan_catalog **ret_catalog);
JSCAN_API struct jscan_catalog *jscan_catalog_free(struct jscan_catalog *catalog);

/* All texts, in the order of their IDs. A callback's non-zero answer ends it and is returned. */
JSCAN_API int jscan_catalog_list(const struct jscan_catalog *catalog, jscan_catalog_fn callback,
				 void *userdata);

/*
 * The text for an ID of 32 hex digits, or of these as a UUID with dashes. -EINVAL: it is no ID;
 * -ENOENT: there is no text for it, or CATALOG is NULL. RET_TEXT->size must be set by the caller.
 */
JSCAN_API int jscan_catalog_find(const struct jscan_catalog *catalog, const char *id,
				 struct jscan_catalog_text *ret_text);

/* ---- statistics ------------------------------------------------------------------------- */

struct jscan_stats {
	size_t size;             /* set by the caller: what it knows */
	uint64_t files;          /* usable files */
	uint64_t files_failed;   /* files that could not be used */
	uint64_t files_pruned;   /* files that the query plan ruled out */
	uint64_t entries;        /* yielded */
	uint64_t entries_tested; /* read by the filter of JSCAN_PLAN_SCAN */
	uint64_t duplicates;     /* copies of an entry that were left out */
	uint64_t bytes_read;     /* from files */
	uint64_t reads;          /* requests for them */
	uint64_t block_hits;     /* blocks that were wanted and already there */
	uint64_t block_misses;   /* blocks that had to be waited for */
	uint64_t blocks_evicted;
	uint64_t bytes_written;  /* by the built-in output */
	uint64_t problems;       /* damage and files left out */
	uint64_t memory_peak_bytes; /* of file contents, against the budget */
	uint64_t heap_steps;     /* merge steps on the heap */
	uint64_t fold_steps;     /* merge steps by the full comparison of all files */
	uint64_t call_usec_max;  /* longest jscan_process() or jscan_next() in a foreign loop */
	char io_method[16];      /* the method in use: "uring", "threads", "sync" */
	uint64_t files_direct;   /* times that a file was opened for direct reads */
	uint64_t files_not_direct; /* ... and was not, though JSCAN_CACHE_DIRECT was asked for */
};

/* Copies the counters so far into *RET_STATS, as much of it as its size says. */
JSCAN_API int jscan_get_stats(const struct jscan *engine, struct jscan_stats *ret_stats);

/* ---- questions about the archive -------------------------------------------------------- */
/*
 * Asked of the files that were added; they block, need no scan to be running, and leave the
 * position of reading alone. A callback's non-zero answer ends the listing and is returned.
 */

struct jscan_boot {
	size_t size;
	jscan_id boot_id;
	uint64_t first_realtime_usec; /* of its first and last entry in reading order */
	uint64_t last_realtime_usec;
	uint64_t first_rank;     /* from 0: where it is in the order of first entries */
};
typedef int (*jscan_boot_fn)(void *userdata, const struct jscan_boot *boot);
/* The boots, in the order in which they end: the last one is that of the entry from which reading
 * backward begins. */
JSCAN_API int jscan_list_boots(struct jscan *engine, jscan_boot_fn callback, void *userdata);

/*
 * The boot whose last entry is the newest (BACK 0), the newest but one (1), and so on: as counted
 * from the end of that list, but only the files that can hold it are asked. 1; 0: there are not so
 * many boots.
 */
JSCAN_API int jscan_newest_boot(struct jscan *engine, uint64_t back, jscan_id *ret_id);

#define JSCAN_INVOCATIONS_WITHOUT_ENDS (1u << 0) /* only the IDs are asked for */

/* Which invocations to list. Fill with JSCAN_INVOCATIONS_OPTIONS_INIT, then set what matters. */
struct jscan_invocations_options {
	size_t size;             /* sizeof(struct jscan_invocations_options) of the caller */
	uint64_t count;          /* so many at most; 0: all */
	const char *cursor;      /* where reading begins, with the next entry but the one that it
				  * names; NULL: at the end that it comes from */
	const jscan_id *boot_id; /* only entries of this boot count for the ends; NULL: all. The
				  * match has to say so too */
	uint32_t flags;          /* JSCAN_INVOCATIONS_* */
	uint32_t reserved;       /* 0 */
};

#define JSCAN_INVOCATIONS_OPTIONS_INIT \
	{ sizeof(struct jscan_invocations_options), 0, NULL, NULL, 0, 0 }

struct jscan_invocation {
	size_t size;
	jscan_id invocation_id;
	uint64_t first_realtime_usec; /* of the first and last entry that names it, of any unit; */
	uint64_t last_realtime_usec;  /* 0 without ends */
};
typedef int (*jscan_invocation_fn)(void *userdata, const struct jscan_invocation *invocation);
/*
 * The invocations that the entries are of which the match lets through: those of a unit, if these
 * are a unit's. They come in the order in which reading in the direction that is set comes to them.
 * Bounds, seeks, limits and a pattern do not count. OPTIONS may be NULL.
 *
 * An entry is of the invocation whose ID it has in the first of _SYSTEMD_INVOCATION_ID,
 * OBJECT_SYSTEMD_INVOCATION_ID, INVOCATION_ID and USER_INVOCATION_ID that holds one. It is named by
 * whatever entry has its ID in any of them. An invocation is taken to be of one boot: entries that
 * name it in files without entries of a boot in which it was found do not count for its ends.
 *
 * The indexes tell: a few entries are read for each invocation. Memory grows with their number.
 */
JSCAN_API int jscan_list_invocations(struct jscan *engine,
				     const struct jscan_invocations_options *options,
				     jscan_invocation_fn callback, void *userdata);

typedef int (*jscan_bytes_fn)(void *userdata, const void *data, size_t size);
/* The names of all fields, each once. */
JSCAN_API int jscan_list_field_names(struct jscan *engine, jscan_bytes_fn callback, void *userdata);
/* The distinct values of a field, each once, without "NAME=". */
JSCAN_API int jscan_list_field_values(struct jscan *engine, const char *field,
				      jscan_bytes_fn callback, void *userdata);

/*
 * How many entries the scan as set up would yield; with a pattern, how many of them match. Where
 * the files cannot hold copies of each other's entries, and neither bounds, places, limits nor a
 * pattern have a say, the indexes tell and no entry is read.
 */
JSCAN_API int jscan_count(struct jscan *engine, uint64_t *ret_count);

struct jscan_value {
	size_t size;
	const void *data;
	size_t data_size;
	uint64_t entries;        /* that have it */
};
typedef int (*jscan_value_fn)(void *userdata, const struct jscan_value *value);
/*
 * The MOST frequent values of a field among the entries that the scan as set up would yield, with
 * their counts, most frequent first, equal ones in the order of their bytes. From the indexes where
 * jscan_count() would need no entry and there is no match. Memory grows with the number of
 * different values. Values too large to be handed out whole are not counted. -EINVAL as
 * jscan_list_field_values(). No sink may be attached.
 */
JSCAN_API int jscan_top(struct jscan *engine, const char *field, uint64_t most,
			jscan_value_fn callback, void *userdata);

struct jscan_step {
	size_t size;
	uint64_t begin_usec;     /* realtime, a multiple of step_usec */
	uint64_t step_usec;
	uint64_t entries;
};
typedef int (*jscan_step_fn)(void *userdata, const struct jscan_step *step);
/*
 * How many entries the scan as set up would yield in each step of time, from the first step that
 * has one to the last, empty ones between them included. STEP_USEC 0: a step that shows the time
 * between the files' ends, or between the bounds, in some dozens of steps. -E2BIG: there would be
 * more than a million. No sink may be attached where a pattern is set.
 */
JSCAN_API int jscan_histogram(struct jscan *engine, uint64_t step_usec, jscan_step_fn callback,
			      void *userdata);

enum jscan_verdict {
	JSCAN_VERDICT_KEPT = 0, /* it is looked into */
	JSCAN_VERDICT_WAITS,    /* by its header it comes later: only if reading gets that far */
	JSCAN_VERDICT_TERM,     /* it lacks a term that is needed */
	JSCAN_VERDICT_BOUNDS,   /* nothing in it lies on this side of where reading starts */
	JSCAN_VERDICT_EMPTY     /* it has no entries */
};

enum jscan_term_state {
	JSCAN_TERM_UNKNOWN = 0, /* not looked up to the end: another term had decided */
	JSCAN_TERM_FOUND,
	JSCAN_TERM_MISSING
};

/* A term of the match in one file. */
struct jscan_explain_term {
	size_t size;
	const void *data;        /* "FIELD=VALUE" */
	size_t data_size;
	uint32_t state;          /* enum jscan_term_state */
	uint32_t reserved;
	uint64_t entries;        /* that have it */
};

struct jscan_explain_file {
	size_t size;
	const char *path;
	uint32_t verdict;        /* enum jscan_verdict */
	uint32_t reserved;
	uint64_t entries_total;
	uint64_t entries_max;    /* that can match, by the rarest of what is needed */
	const void *missing;     /* JSCAN_VERDICT_TERM: what it lacks, or one of them; else NULL */
	size_t missing_size;
	size_t term_count;       /* in the order in which they were added */
	const struct jscan_explain_term *terms;
};
typedef int (*jscan_explain_fn)(void *userdata, const struct jscan_explain_file *file);
/*
 * What the scan as set up would do with each file, in the order in which files are numbered. The
 * plan is made as the scan makes it; jscan_get_stats() then tells what that took.
 */
JSCAN_API int jscan_explain(struct jscan *engine, jscan_explain_fn callback, void *userdata);

/* The header of a file, as it stands in it; fields that its header is too short for are 0. */
struct jscan_file_info {
	size_t size;
	const char *path;
	uint64_t file_bytes;
	uint64_t disk_bytes;     /* allocated */
	uint32_t compatible_flags;
	uint32_t incompatible_flags;
	uint32_t state;          /* 0 offline, 1 online, 2 archived */
	uint32_t reserved;
	jscan_id file_id;
	jscan_id machine_id;
	jscan_id tail_boot_id;
	jscan_id seqnum_id;
	uint64_t header_bytes;
	uint64_t arena_bytes;
	uint64_t data_hash_table_bytes;
	uint64_t field_hash_table_bytes;
	uint64_t head_seqnum, tail_seqnum;
	uint64_t head_realtime_usec, tail_realtime_usec, tail_monotonic_usec;
	uint64_t n_objects, n_entries, n_data, n_fields, n_tags, n_entry_arrays;
	uint64_t data_chain_depth, field_chain_depth;
};
typedef int (*jscan_file_fn)(void *userdata, const struct jscan_file_info *file);
/* The usable files, in the order in which they were added. */
JSCAN_API int jscan_list_files(struct jscan *engine, jscan_file_fn callback, void *userdata);

/* ---- gaps ------------------------------------------------------------------------------- */
/*
 * What does an archive lack? A writer numbers its entries without holes, under an ID that stands in
 * the header of each of its files: numbers that no file has are entries that are not there, because
 * their file was removed or never copied, or because they cannot be read. Only if all files of a
 * writer are added, those of the system and of all users, does this mean anything.
 */

#define JSCAN_GAPS_MISSING (1u << 0)    /* numbers that no entry has */
#define JSCAN_GAPS_CLOCK_STEP (1u << 1) /* realtime goes back within a boot, or runs away from the
					 * monotonic clock, which stands still while the machine
					 * sleeps */
#define JSCAN_GAPS_NOT_CLOSED (1u << 2) /* the state of a file is online: it is being written, or
					 * its writer has crashed; or its name ends in .journal~ */
#define JSCAN_GAPS_HEADER (1u << 3)     /* a header counts other entries than can be read */

/* One finding. What does not apply is 0 or NULL. Borrowed for the call. */
struct jscan_gap {
	size_t size;
	uint32_t kind;           /* one of JSCAN_GAPS_* */
	uint32_t reserved;
	const char *path;        /* file of the entry behind the gap; or which it is about */
	uint64_t offset;         /* of that entry; 0 if it has not been read */
	const char *previous_path; /* of the entry before it; NULL: there is none */
	uint64_t previous_offset;
	jscan_id seqnum_id;
	jscan_id boot_id;        /* of the entry behind it; of the file's newest one */
	jscan_id previous_boot_id;
	uint64_t first_seqnum;   /* missing: the first and last one; clock step: of the two */
	uint64_t last_seqnum;    /* entries; else of the file: as found, as in the header */
	uint64_t count;          /* of missing numbers, or of the file's entries */
	uint64_t before_usec;    /* realtime of the entry before the gap; of the file's first */
	uint64_t after_usec;     /* ... behind it; of the file's last */
	int64_t step_usec;       /* by how much realtime was set, or the machine slept */
};
/* A non-zero answer ends the listing and is returned. */
typedef int (*jscan_gap_fn)(void *userdata, const struct jscan_gap *gap);

struct jscan_gaps_options {
	size_t size;             /* sizeof(struct jscan_gaps_options) of the caller */
	uint32_t kinds;          /* JSCAN_GAPS_*; 0: all */
	uint32_t reserved;       /* 0 */
	uint64_t step_usec;      /* clock steps that are smaller are not told, unless realtime goes
				  * back; default 1 s */
};

#define JSCAN_GAPS_OPTIONS_INIT { sizeof(struct jscan_gaps_options), 0, 0, 0 }

/*
 * Lists gaps of the usable files: first those of the files' states, then for each ID the others in
 * the order of the numbers. All entries are read, but if only missing numbers are asked for, files
 * whose headers rule out holes are not. Matches and bounds do not count. OPTIONS may be NULL.
 * Blocks. 0: done; 1: jscan_stop() was called.
 */
JSCAN_API int jscan_list_gaps(struct jscan *engine, const struct jscan_gaps_options *options,
			      jscan_gap_fn callback, void *userdata);

/* ---- verification ----------------------------------------------------------------------- */
/*
 * Is each file consistent in itself? Every object is read, every hash computed, and every link
 * followed, as journalctl --verify does it and in its words; with a verification key the seals of
 * sealed files are recomputed.
 *
 * Files are verified one after the other, each read from its beginning to its end and then once
 * more along its entries. Beside the budget for file contents this takes about a sixteenth of a
 * file's length, and room for one field of field_bytes_max. A single object is held in memory as
 * a whole.
 *
 * A file that changes while it is verified gets a second chance: it is then verified as far as its
 * writer had come when its header was read.
 */

/* A line about a file. */
struct jscan_verify_detail {
	size_t size;
	uint64_t offset;         /* of the object that it is about; UINT64_MAX: of none */
	const char *text;
};

/* What was found out about one file. Borrowed for the call. */
struct jscan_verify_result {
	size_t size;
	const char *path;
	int error;               /* 0: consistent. -ENOKEY: sealed, and there is no key;
				  * -EOPNOTSUPP: it, or its seal, is not understood; else why it
				  * is not */
	uint64_t error_offset;   /* how far its objects are in order */
	uint64_t file_bytes;
	uint64_t entries;
	uint64_t fields_unchecked; /* larger than field_bytes_max: their hashes are not checked */
	size_t detail_count;     /* there may be some without an error */
	const struct jscan_verify_detail *details;
	int sealed;
	uint64_t first_entry_usec; /* realtime of the first entry and of the newest; or 0 */
	uint64_t last_entry_usec;
	int validated;           /* a key was given, and at least one seal is right */
	uint64_t validated_until_usec; /* entries are sealed from the first one to this time */
};
/* Called for each file, in the order in which they are merged. A non-zero answer ends the
 * verification and is returned. */
typedef int (*jscan_verify_fn)(void *userdata, const struct jscan_verify_result *result);

/* Called as the verification of a file proceeds, in thousandths; 0 comes first. */
typedef void (*jscan_verify_progress_fn)(void *userdata, const char *path, unsigned permille);

struct jscan_verify_options {
	size_t size;             /* sizeof(struct jscan_verify_options) of the caller */
	const char *key;         /* NULL, or a verification key: "SEED/START-INTERVAL" */
	jscan_verify_progress_fn progress; /* NULL, or called with the callback's userdata */
};

#define JSCAN_VERIFY_OPTIONS_INIT { sizeof(struct jscan_verify_options), NULL, NULL }

/*
 * Verifies the usable files. OPTIONS may be NULL. Blocks. 0: all files have been looked at; 1:
 * jscan_stop() was called; -EKEYREJECTED: the key is not one. Files that cannot be used at all are
 * problems, as ever.
 */
JSCAN_API int jscan_verify(struct jscan *engine, const struct jscan_verify_options *options,
			   jscan_verify_fn callback, void *userdata);

/* ---- following -------------------------------------------------------------------------- */
/*
 * Goes on after the last entry and waits for more: in files that grow, are renamed and made anew as
 * journals are rotated, or turn up in the directories that were added, and their sub-directories.
 * (Of files that were added by name, what later has that name is followed, too.) It is said before
 * the files are opened, else the answer is -EINVAL. A backward scan cannot follow: -EINVAL when it
 * opens the files, and once they are open it ends at the oldest entry without waiting.
 *
 * jscan_run() then blocks until a sink or jscan_stop() stops it, or the reader of a built-in
 * output's pipe or connection goes away, as if the output had answered 1; jscan_next() blocks until
 * there is an entry, and answers 0 after jscan_stop(); jscan_process() answers 0 while there is
 * none, and the descriptor of jscan_fd() wakes. A limit still ends the scan; a tail only says where
 * it begins; entries beyond the upper bound are left out. Nothing runs while nothing happens.
 *
 * Entries come as they are found. Those found together are merged in the usual order, those found
 * later come after them, whatever their times. An entry is found once its writer has told of it, by
 * changing its file's length or setting it anew, which inotify reports. Where watches have run out
 * this is told as a problem (JSCAN_REASON_WATCH), and all files are looked at every 100 ms. Of
 * files on network file systems nothing is reported when other machines write to them.
 */
JSCAN_API int jscan_set_follow(struct jscan *engine, int follow);

/* ---- checkpoints ------------------------------------------------------------------------ */
/*
 * A checkpoint says how far a scan has come in each sequence of numbers, so that another run goes
 * on from there and has each entry exactly once, though there are many machines, whose files are
 * rotated, copied and removed in between, and new ones. (A cursor names one entry; what of other
 * machines comes before it is a matter of clocks.) It is a text: the line "jscan-checkpoint 1 N M",
 * then N lines, each a cursor: of the last entry that was read of one sequence, then M lines with
 * the IDs of files.
 *
 * A run that is to keep one begins with jscan_seek_checkpoint(), with what the last run kept, or
 * with nothing. It reads forward; where the order of journalctl would have entries of one sequence
 * against the order of their numbers, since clocks disagree, the numbers count. What is read must
 * not change from run to run: matches, a pattern and the lower bound stay the same.
 *
 * A file that turns up later, with numbers below those that have been read, for example because a
 * directory was copied only in part, is read all the same: files that have been read are known by
 * their IDs. What a follower has not seen when it is killed, since the writer of several files of
 * one sequence was adding to two of them at that moment, is passed over by the next run.
 */

/* Goes on behind a checkpoint, TEXT (NULL or "": from the beginning), and keeps one from here on.
 * Sequences that it does not know are read from the beginning, or the lower bound. -EINVAL: it is
 * none, or reading is to go backward or to begin with a tail; -EPROTONOSUPPORT: it is of a later
 * version. Another seek ends it. */
JSCAN_API int jscan_seek_checkpoint(struct jscan *engine, const char *text);

enum jscan_checkpoint {
	JSCAN_CHECKPOINT_SETTLED = 0, /* over entries that all sinks have acknowledged: they have
				       * taken them and since then flushed */
	JSCAN_CHECKPOINT_TAKEN = 1    /* over entries that all sinks have taken. While an entry is
				       * offered: all that come before it, so that a sink can keep
				       * this along with them */
};

/*
 * The checkpoint as it is. Without sinks both are the same: up to the entry that jscan_next() has
 * handed out last, which is included. *ret_text is borrowed until the next call of this function,
 * or the engine's end. -EINVAL if none is kept.
 */
JSCAN_API int jscan_get_checkpoint(struct jscan *engine, enum jscan_checkpoint which,
				   const char **ret_text);

/* Called with a checkpoint that has moved. A negative answer ends the scan, and is returned. */
typedef int (*jscan_checkpoint_fn)(void *userdata, const char *text);

/*
 * Has HANDLER (NULL: nobody) called while sinks are driven, on the engine's thread: every
 * INTERVAL_USEC if the checkpoint has moved, also while a follower waits, and at the end. Before
 * that all sinks flush. Of a scan that fails it is not told at the end. To be set after
 * jscan_seek_checkpoint(), else the answer is -EINVAL.
 */
JSCAN_API int jscan_set_checkpoint_handler(struct jscan *engine, uint64_t interval_usec,
					   jscan_checkpoint_fn handler, void *userdata);

#ifdef __cplusplus
}
#endif

#endif
