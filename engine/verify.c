/* SPDX-License-Identifier: MIT */
/*
 * Verification: one file after the other is run through the verifier of formats/journal, with its
 * bytes read ahead of it.
 *
 * A file that is not archived may be written to. Its header is then read again before anything
 * else, and if it does not verify it is not believed at once: where the header has changed in the
 * meantime, or does so within a second of the file's last change, the file is verified as a
 * snapshot, as far as its writer had come; where it has not, but the file is open for writing, once
 * more as it is. Everything is read anew for that, unless an entry that is in use lies in what has
 * been read.
 *
 * The position of reading is left alone; images are closed when their file is done.
 */
#include "formats/journal/verify.h"

#include <sys/stat.h>
#include <time.h>

#include "engine/engine.h"

#define VERIFICATION_ATTEMPTS 3u
/* A file that was changed less than this ago may be in the middle of a change: its writer is given
 * the rest of that time to go on. */
#define VERIFICATION_SETTLE_USEC INT64_C(1000000)
#define VERIFICATION_PAUSE_USEC 20000
/* Bytes read beyond the start of the tail object. */
#define VERIFICATION_TAIL_BYTES (64u << 10)

struct verification {
	const struct jscan_verify_options *options;
	void *userdata;
	struct seal_key key;
	struct seal *seal;
	struct payload_decoder *decoder;
	struct source *source;
	unsigned attempt;
	bool snapshot;
	struct verify *verify;  /* NULL: the attempt has not begun */
	struct journal journal; /* as its header stood when it began */
	size_t header_size;
	uint8_t header[HEADER_SIZE_MAX];
	struct verify_result result; /* of the last attempt */
	struct readahead readahead;
	unsigned permille;
};

/* Copies options. */
static int verification_take_options(const struct jscan_verify_options *given,
				     struct jscan_verify_options *ret)
{
	*ret = (struct jscan_verify_options)JSCAN_VERIFY_OPTIONS_INIT;
	return given ? engine_take(given, given->size, ret, sizeof(*ret)) : 0;
}

/* Sets the result of a file that the verifier has nothing to say about. */
static int verification_refuse(struct verification *v, int error, const char *text)
{
	v->result = (struct verify_result){ .error = error };
	if (text) {
		v->result.detail_count = 1;
		v->result.details[0].offset = VERIFY_NO_OFFSET;
		strncpy(v->result.details[0].text, text, VERIFY_TEXT_SIZE - 1);
	}
	return 0;
}

/* ---- one attempt ------------------------------------------------------------------------ */

/* Learns how long the file is now. True if it has grown. */
static bool verification_grow(struct source *s)
{
	struct stat st;

	if (fstat(s->image.file.fd, &st) < 0 || (uint64_t)st.st_size <= s->image.size_bytes ||
	    image_resize(&s->image, (uint64_t)st.st_size) < 0)
		return false;
	s->stat.size_bytes = (uint64_t)st.st_size;
	source_refresh_window(s);
	return true;
}

/* Forgets what has been read of a file that may have been written to since. */
static void verification_read_anew(struct source *s)
{
	if (s->journal.header.state == JOURNAL_STATE_ARCHIVED || s->refs > 0)
		return;
	verification_grow(s);
	source_forget(s, 0, s->image.size_bytes);
}

/* The first bytes of the file, as they are now. */
static int verification_read_header(struct source *s, const uint8_t **ret, size_t *ret_size)
{
	*ret_size = s->window.size_bytes < HEADER_SIZE_MAX ? s->window.size_bytes : HEADER_SIZE_MAX;
	return *ret_size ? window_get(&s->window, 0, *ret_size, ret) : -ENODATA;
}

/* Makes the seal when the first sealed file is met. */
static int verification_need_seal(struct verification *v)
{
	if (!v->options->key || v->seal ||
	    !(v->journal.header.compatible_flags & JOURNAL_COMPATIBLE_SEALED))
		return 0;
	return seal_new(&v->key, &v->seal);
}

/* Begins an attempt: 0 with v->verify set, or without it if there is a result already. */
static int verification_begin(struct verification *v, struct source *s)
{
	char detail[HEADER_DETAIL_SIZE];
	const uint8_t *bytes;
	uint64_t end;
	size_t size;
	int r = verification_read_header(s, &bytes, &size);

	if (r == -EAGAIN)
		return r;
	if (r < 0)
		return verification_refuse(v, r, NULL);
	r = header_parse(bytes, size, s->window.size_bytes, &v->journal, detail);
	/* A writer makes the file longer before it says so in the header. */
	if (r == 0 && v->journal.truncated && s->refs == 0 && verification_grow(s)) {
		r = verification_read_header(s, &bytes, &size);
		if (r < 0)
			return r == -EAGAIN ? r : verification_refuse(v, r, NULL);
		r = header_parse(bytes, size, s->window.size_bytes, &v->journal, detail);
	}
	if (r < 0)
		return verification_refuse(v, r, detail);
	memcpy(v->header, bytes, size);
	v->header_size = size;
	r = verification_need_seal(v);
	if (r < 0)
		return r == -ENOMEM ? r
				    : verification_refuse(v, r, "This build cannot verify seals.");
	r = verify_new(&v->journal, v->decoder, v->seal, v->snapshot, &v->verify);
	if (r < 0)
		return r;
	end = v->journal.header.tail_object_offset + VERIFICATION_TAIL_BYTES;
	if (end > s->window.size_bytes || end < VERIFICATION_TAIL_BYTES)
		end = s->window.size_bytes;
	readahead_init(&v->readahead, 0, end, false);
	return 0;
}

/* Step: a piece of the attempt. 1: there is more to do; 0: v->result says how it went; -EAGAIN,
 * -ENOMEM. */
static int verification_step(struct source *s)
{
	struct verification *v = s->engine->verification;
	int r;

	if (!v->verify) {
		r = verification_begin(v, s);
		if (r < 0 || !v->verify)
			return r;
	}
	r = verify_run(v->verify, &s->window);
	if (r > 0 || r == -EAGAIN || r == -ENOMEM)
		return r;
	v->result = *verify_result(v->verify);
	return 0;
}

/* Asks for what comes next in the file. True if anything was asked for. */
static bool verification_read_ahead(struct jscan *e, struct verification *v)
{
	uint64_t position = v->verify ? verify_position(v->verify) : UINT64_MAX;
	uint64_t room = image_pool_expected_room(&e->pool), offset, size_bytes;
	struct readahead *ra = &v->readahead;
	struct source *s = v->source;
	bool asked = false;

	if (position == UINT64_MAX || (s->state != SOURCE_OPEN && s->state != SOURCE_WAITING))
		return false;
	if (position + READAHEAD_REQUEST_BYTES + ra->distance_bytes < ra->asked_bytes)
		/* The second walk begins: what is still there costs nothing to ask for. */
		readahead_init(ra, 0, ra->end_bytes, false);
	/* Half the distance is still ahead: large requests beat many small ones. */
	if (ra->asked_bytes > position + ra->distance_bytes / 2)
		return false;
	while (room > 0 && readahead_next(ra, position, room, &offset, &size_bytes)) {
		image_want(&s->image, offset, size_bytes, IMAGE_EXPECTED);
		room -= size_bytes;
		asked = true;
	}
	return asked;
}

/* engine_wait(): goes on with the attempt. */
static int verification_wait_step(struct jscan *e)
{
	struct verification *v = e->verification;
	int r = source_try(v->source, verification_step);

	if (v->source->error) {
		verification_refuse(v, v->source->error, NULL);
		return 0;
	}
	if (r == -EBUSY)
		r = -EAGAIN; /* until a descriptor is free */
	if (r == -EAGAIN && v->verify) {
		readahead_stalled(&v->readahead, e->readahead_bytes_max);
		verification_read_ahead(e, v);
	}
	return r;
}

/* Says how far it is, if that has changed. */
static void verification_show(struct verification *v, unsigned permille, bool first)
{
	if (permille <= v->permille && !first)
		return;
	v->permille = permille;
	if (v->options->progress)
		v->options->progress(v->userdata, v->source->path, permille);
}

/* Runs the attempt to its end. 0, 1 if it was stopped, or an error that is not the file's. */
static int verification_attempt(struct jscan *e, struct verification *v)
{
	int r;

	do {
		if (atomic_load_explicit(&e->stop, memory_order_relaxed))
			return 1;
		r = engine_wait(e, verification_wait_step);
		if (v->verify)
			verification_show(v, verify_progress(v->verify), false);
		if (r > 0 && verification_read_ahead(e, v)) {
			int turn = engine_turn(e, false);

			r = turn < 0 ? turn : r;
		}
	} while (r > 0);
	v->verify = verify_free(v->verify);
	return r;
}

/* ---- one file --------------------------------------------------------------------------- */

/* Step: has the header changed since the attempt began? 1 or 0, -EAGAIN. */
static int verification_step_changed(struct source *s)
{
	struct verification *v = s->engine->verification;
	const uint8_t *bytes;
	size_t size;
	int r = verification_read_header(s, &bytes, &size);

	if (r == -EAGAIN)
		return r;
	return r < 0 || size != v->header_size || memcmp(bytes, v->header, size) != 0;
}

static int verification_wait_changed(struct jscan *e)
{
	int r = source_try(e->verification->source, verification_step_changed);

	return r == -EBUSY ? -EAGAIN : r;
}

/* How long ago the file was changed, as far as its file system tells. */
static int64_t verification_age_usec(const struct source *s)
{
	struct timespec now;
	struct stat st;

	if (fstat(s->image.file.fd, &st) < 0 || clock_gettime(CLOCK_REALTIME, &now) < 0)
		return INT64_MAX;
	return (now.tv_sec - st.st_mtim.tv_sec) * INT64_C(1000000) +
	       (now.tv_nsec - st.st_mtim.tv_nsec) / 1000;
}

/* Whether the header changes, if the file was changed just now: 1 or 0. */
static int verification_settle(struct jscan *e, struct verification *v)
{
	const struct timespec pause = { .tv_nsec = VERIFICATION_PAUSE_USEC * 1000 };
	int64_t age;
	int r;

	for (;;) {
		verification_read_anew(v->source);
		r = engine_wait(e, verification_wait_changed);
		if (r != 0 || atomic_load_explicit(&e->stop, memory_order_relaxed))
			return r;
		age = verification_age_usec(v->source);
		if (age < 0 || age >= VERIFICATION_SETTLE_USEC)
			return 0;
		nanosleep(&pause, NULL);
	}
}

/* Whether a file that did not verify is worth another attempt: 1 or 0. */
static int verification_tries_again(struct jscan *e, struct verification *v)
{
	struct source *s = v->source;
	int r;

	if (s->error || v->result.error == 0 || v->result.error == -ENOKEY ||
	    v->result.error == -EOPNOTSUPP || v->attempt + 1 >= VERIFICATION_ATTEMPTS ||
	    s->journal.header.state == JOURNAL_STATE_ARCHIVED || s->refs > 0 ||
	    s->state != SOURCE_OPEN)
		return 0;
	r = verification_settle(e, v);
	if (r < 0)
		return s->error ? 0 : r;
	v->snapshot |= r > 0;
	return r > 0 || (v->attempt == 0 && v->journal.header.state == JOURNAL_STATE_ONLINE);
}

/* Hands a result to the caller. */
static int verification_report(struct verification *v, jscan_verify_fn callback)
{
	const struct verify_result *result = &v->result;
	struct jscan_verify_detail details[VERIFY_DETAILS_MAX];
	struct jscan_verify_result report = {
		.size = sizeof(report),
		.path = v->source->path,
		.error = result->error,
		.error_offset = result->error_offset,
		.file_bytes = v->source->stat.size_bytes,
		.entries = result->entries,
		.fields_unchecked = result->unchecked,
		.detail_count = result->detail_count,
		.details = details,
		.sealed = result->sealed,
		.validated = result->error == 0 && result->validated,
		.validated_until_usec = result->validated_until_usec,
		.first_entry_usec = result->first_entry_usec,
		.last_entry_usec = result->last_entry_usec,
	};

	for (unsigned i = 0; i < result->detail_count; i++)
		details[i] = (struct jscan_verify_detail){
			.size = sizeof(details[i]),
			.offset = result->details[i].offset,
			.text = result->details[i].text,
		};
	return callback(v->userdata, &report);
}

/* Verifies the file that v->source is. */
static int verification_file(struct jscan *e, struct verification *v, jscan_verify_fn callback)
{
	struct source *s = v->source;
	int r;

	v->snapshot = false;
	v->permille = 0;
	verification_show(v, 0, true);
	for (v->attempt = 0;; v->attempt++) {
		if (s->state == SOURCE_OPEN)
			verification_read_anew(s);
		r = verification_attempt(e, v);
		if (r == 0)
			r = verification_tries_again(e, v);
		else if (r > 0)
			return r; /* stopped */
		if (r <= 0)
			break;
	}
	if (s->state == SOURCE_OPEN && s->refs == 0)
		source_close(s);
	if (r < 0)
		return r;
	verification_show(v, 1000, false);
	return verification_report(v, callback);
}

/* Verifies all usable files. */
static int verification_run(struct jscan *e, struct verification *v, jscan_verify_fn callback)
{
	int r = jscan_open(e);

	for (size_t i = 0; i < e->source_count && r == 0; i++) {
		v->source = e->sources[i];
		if (!v->source->error)
			r = verification_file(e, v, callback);
	}
	return r;
}

int jscan_verify(struct jscan *e, const struct jscan_verify_options *given,
		 jscan_verify_fn callback, void *userdata)
{
	struct jscan_verify_options options;
	struct verification v = { .options = &options, .userdata = userdata };
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (!callback || e->verification || e->wave_runs)
		return -EINVAL;
	r = verification_take_options(given, &options);
	if (r == 0 && options.key)
		r = seal_key_parse(options.key, &v.key);
	if (r == 0)
		r = payload_decoder_new(e->options.field_bytes_max, &v.decoder);
	if (r < 0)
		return r;
	e->verification = &v;
	r = verification_run(e, &v, callback);
	e->verification = NULL;
	verify_free(v.verify);
	payload_decoder_free(v.decoder);
	seal_free(v.seal);
	atomic_store(&e->stop, false);
	return r;
}
