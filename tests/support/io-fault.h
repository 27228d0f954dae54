/* SPDX-License-Identifier: MIT */
/*
 * I/O that misbehaves on demand: a method of struct io that reads real files, or buffers that stand
 * for files, in pieces, late, in another order, with errors, or never. Everything follows from the
 * seed and the order of calls: it never sleeps and asks no clock. Time is counted in turns, and a
 * turn that waits moves on to the next completion.
 */
#ifndef TESTS_SUPPORT_IO_FAULT_H
#define TESTS_SUPPORT_IO_FAULT_H

#include "uring/io.h"

/* Descriptors from here on are buffers. */
#define IO_FAULT_FD_BASE (1 << 28)
#define IO_FAULT_FILES_MAX 1024u
#define IO_FAULT_RULES_MAX 64u

/* A buffer that can be opened by its name, and read by its descriptor. */
struct io_fault_file {
	const char *name; /* borrowed; may be NULL */
	const uint8_t *bytes; /* borrowed */
	uint64_t size_bytes;
};

/* Attempts at a read of FD (-1: any) that begin in this range of offsets give an error. */
struct io_fault_rule {
	int fd;
	uint64_t begin_bytes, end_bytes;
	int error;      /* negative errno */
	unsigned count; /* so many times */
};

struct io_fault {
	/* may be changed at any time */
	uint32_t read_bytes_max;      /* one attempt brings at most so much; 0: no limit */
	bool read_bytes_random;       /* ... a random number of bytes up to that */
	unsigned delay_turns_max;     /* attempts take up to so many turns */
	unsigned latency_usec;        /* starting reads takes so long, however many they are */
	bool reorder;                 /* what is due in one turn completes in random order */
	unsigned eagain_percent;      /* attempts that meet EAGAIN first */
	unsigned eintr_percent;
	bool never;                   /* what starts now does not end until it is cancelled */
	uint32_t nowait;              /* of buffers: whether they claim non-blocking reads */
	/* what has happened */
	uint64_t attempts;            /* at reads */
	uint64_t failures;            /* errors given by rules */
	uint64_t cancelled;
	unsigned in_flight_peak;
	uint64_t waves;               /* turns that started reads: one waits for another */
	/* private */
	uint64_t random;
	uint64_t turn;
	struct list flying;
	struct io_fault_file files[IO_FAULT_FILES_MAX];
	unsigned file_count;
	struct io_fault_rule rules[IO_FAULT_RULES_MAX];
	unsigned rule_count;
	int event_fd;
};

/* A well-behaved one; the knobs are set afterwards. */
void io_fault_init(struct io_fault *f, uint64_t seed);

/* Sets up an io that runs on it, with a depth of QUEUE_DEPTH. */
int io_fault_init_io(struct io_fault *f, struct io *io, unsigned queue_depth);

/* Adds a buffer; returns the descriptor. Both NAME and BYTES are borrowed. */
int io_fault_add_file(struct io_fault *f, const char *name, const void *bytes, uint64_t size_bytes);

/* Gives a buffer other contents. */
void io_fault_set_file(struct io_fault *f, int fd, const void *bytes, uint64_t size_bytes);

/* Lets reads fail: see struct io_fault_rule. */
void io_fault_fail(struct io_fault *f, int fd, uint64_t begin_bytes, uint64_t end_bytes, int error,
		   unsigned count);

/* The next random number of a sequence. */
uint64_t io_fault_random(uint64_t *state);

extern const struct io_method io_method_fault;

#endif
