/* SPDX-License-Identifier: MIT */
/* Questions about the archive that no entry has to be shown for: statistics and files. */
#include <stdlib.h>

#include "engine/engine.h"

int jscan_get_stats(const struct jscan *e, struct jscan_stats *ret_stats)
{
	struct jscan_stats stats = e->stats;
	size_t size;

	if (!ret_stats || ret_stats->size < sizeof(ret_stats->size))
		return -EINVAL;
	size = ret_stats->size < sizeof(stats) ? ret_stats->size : sizeof(stats);
	stats.size = ret_stats->size;
	stats.files = e->usable_count;
	stats.duplicates = e->merge.duplicates;
	stats.heap_steps = e->merge.heap_steps;
	stats.fold_steps = e->merge.fold_steps;
	if (e->io_there) {
		stats.bytes_read = e->io.statistics.bytes_read;
		stats.reads = e->io.statistics.reads;
		stats.block_hits = e->pool.statistics.block_hits;
		stats.block_misses = e->pool.statistics.block_misses;
		stats.blocks_evicted = e->pool.statistics.blocks_evicted;
		stats.memory_peak_bytes = e->pool.statistics.committed_peak_bytes;
		strncpy(stats.io_method, e->io.method->name, sizeof(stats.io_method) - 1);
	}
	for (size_t i = 0; i < e->source_count; i++) {
		const struct source *s = e->sources[i];

		stats.files_pruned += s->plan.root && s->plan.ready && s->plan.root->empty;
	}
	memset(ret_stats, 0, ret_stats->size);
	memcpy(ret_stats, &stats, size);
	return 0;
}

/* Fills the public form of a file's header. */
static void questions_file(const struct source *s, struct jscan_file_info *info)
{
	const struct journal_header *h = &s->journal.header;

	*info = (struct jscan_file_info){
		.size = sizeof(*info),
		.path = s->path,
		.file_bytes = s->stat.size_bytes,
		.disk_bytes = (s->unpacked ? s->packed_blocks : s->stat.blocks) * 512,
		.compatible_flags = h->compatible_flags,
		.incompatible_flags = h->incompatible_flags,
		.state = h->state,
		.header_bytes = h->header_size,
		.arena_bytes = h->arena_size,
		.data_hash_table_bytes = h->data_hash_table_size,
		.field_hash_table_bytes = h->field_hash_table_size,
		.head_seqnum = h->head_entry_seqnum,
		.tail_seqnum = h->tail_entry_seqnum,
		.head_realtime_usec = h->head_entry_realtime,
		.tail_realtime_usec = h->tail_entry_realtime,
		.tail_monotonic_usec = h->tail_entry_monotonic,
		.n_objects = h->n_objects,
		.n_entries = h->n_entries,
		.n_data = h->n_data,
		.n_fields = h->n_fields,
		.n_tags = h->n_tags,
		.n_entry_arrays = h->n_entry_arrays,
		.data_chain_depth = h->data_hash_chain_depth,
		.field_chain_depth = h->field_hash_chain_depth,
	};
	memcpy(info->file_id.bytes, h->file_id.bytes, sizeof(info->file_id.bytes));
	memcpy(info->machine_id.bytes, h->machine_id.bytes, sizeof(info->machine_id.bytes));
	memcpy(info->tail_boot_id.bytes, h->tail_entry_boot_id.bytes,
	       sizeof(info->tail_boot_id.bytes));
	memcpy(info->seqnum_id.bytes, h->seqnum_id.bytes, sizeof(info->seqnum_id.bytes));
}

/* By the order in which files were added. */
static int questions_compare(const void *a, const void *b)
{
	const struct source *x = *(struct source *const *)a, *y = *(struct source *const *)b;

	return x->added < y->added ? -1 : x->added > y->added;
}

int jscan_list_files(struct jscan *e, jscan_file_fn callback, void *userdata)
{
	struct source **files;
	int r = callback ? jscan_open(e) : -EINVAL;

	if (r < 0)
		return r;
	files = calloc(e->source_count + 1, sizeof(struct source *));
	if (!files)
		return -ENOMEM;
	for (size_t i = 0; i < e->source_count; i++)
		files[i] = e->sources[i];
	qsort(files, e->source_count, sizeof(struct source *), questions_compare);
	for (size_t i = 0; i < e->source_count && r == 0; i++) {
		struct jscan_file_info info;

		if (files[i]->error)
			continue;
		questions_file(files[i], &info);
		r = callback(userdata, &info);
	}
	free(files);
	return r;
}
