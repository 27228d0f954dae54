// SPDX-License-Identifier: MIT
/*
 * The table of options: every option of journalctl 262 in that program's order, then our own.
 *
 * The table alone drives parsing, abbreviations, the messages of the parser and --help. A row
 * with the text "instead" is an option that is known by name and refused with that text. Our own
 * options never make an abbreviation ambiguous that journalctl accepts: option_find() looks at
 * them last. What an option does is in settings.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "options.h"

#define NONE ARGUMENT_NONE
#define REQUIRED ARGUMENT_REQUIRED
#define OPTIONAL ARGUMENT_OPTIONAL
#define NEXT ARGUMENT_NEXT

/* A row that this release acts on; one that it refuses; one that it accepts in silence. */
#define ROW(name, letter, argument, section, value, help)                                          \
	{                                                                                          \
		name, letter, argument, SECTION_##section, false, value, help, NULL                \
	}
#define REFUSED(name, letter, argument, section, instead)                                          \
	{                                                                                          \
		name, letter, argument, SECTION_##section, true, NULL, NULL, instead               \
	}
#define SILENT(name, letter, argument, section)                                                    \
	{                                                                                          \
		name, letter, argument, SECTION_##section, true, NULL, NULL, NULL                  \
	}

/* What options are refused for. */
#define SERVICE(option) "speaks to the journal service: use 'journalctl " option "'"
#define CHANGES(option)                                                                            \
	"deletes files, and jscan never changes a journal: use 'journalctl " option "'"
#define ELSEWHERE(option) "has nothing to do with reading: use 'journalctl " option "'"

const struct option_row option_table[OPTION_COUNT] = {
	[OPTION_SYSTEM] = ROW("system", 0, NONE, SOURCE, NULL,
			"Read only the files of the system in directories"),
	[OPTION_USER] = ROW("user", 0, NONE, SOURCE, NULL,
			"Read only the files of the calling user; -u means --user-unit"),
	[OPTION_MACHINE] = REFUSED("machine", 'M', REQUIRED, SOURCE,
			"needs the machine manager: use --root= with its directory"),
	[OPTION_MERGE] = ROW("merge", 'm', NONE, SOURCE, NULL,
			     "Read the journals of all machines; no lines between boots"),
	[OPTION_DIRECTORY] = ROW("directory", 'D', REQUIRED, SOURCE, "PATH",
				 "Read the journal files in this directory"),
	[OPTION_FILE] = ROW("file", 'i', REQUIRED, SOURCE, "PATH",
			    "Read this file, or the files that this pattern matches"),
	[OPTION_ROOT] = ROW("root", 0, REQUIRED, SOURCE, "PATH",
			"Read the journals below this directory"),
	[OPTION_IMAGE] = REFUSED("image", 0, REQUIRED, SOURCE,
			"needs a loop device: mount the image, and use --root="),
	[OPTION_IMAGE_POLICY] = REFUSED("image-policy", 0, REQUIRED, SOURCE,
			"goes with --image=: mount the image, and use --root="),
	[OPTION_NAMESPACE] = ROW("namespace", 0, REQUIRED, SOURCE, "NAME",
			"Read the journals of a log namespace, * for all, +NAME for it too"),

	[OPTION_SINCE] = ROW("since", 'S', REQUIRED, FILTERING, "TIME",
			"Entries not older than this time"),
	[OPTION_UNTIL] = ROW("until", 'U', REQUIRED, FILTERING, "TIME",
			"Entries not newer than this time"),
	[OPTION_CURSOR] = ROW("cursor", 'c', REQUIRED, FILTERING, "CURSOR",
			      "Begin at the entry of this cursor"),
	[OPTION_AFTER_CURSOR] = ROW("after-cursor", 0, REQUIRED, FILTERING, "CURSOR",
				    "Begin behind the entry of this cursor"),
	[OPTION_CURSOR_FILE] = ROW("cursor-file", 0, REQUIRED, FILTERING, "PATH",
			"Begin behind the cursor in this file, and keep the last one there"),
	[OPTION_THIS_BOOT] = ROW("this-boot", 0, NONE, FILTERING, NULL,
			"Entries of the latest boot"),
	[OPTION_BOOT] = ROW("boot", 'b', NEXT, FILTERING, "BOOT",
			"Entries of a boot: an ID, an offset, both, or all"),
	[OPTION_UNIT] = ROW("unit", 'u', REQUIRED, FILTERING, "UNIT",
			"Entries of a system unit, or of those that a pattern matches"),
	[OPTION_USER_UNIT] = ROW("user-unit", 0, REQUIRED, FILTERING, "UNIT",
			"Entries of a unit of the calling user"),
	[OPTION_INVOCATION] = ROW("invocation", 0, REQUIRED, FILTERING, "ID",
			"Entries of an invocation of the unit: an ID, an offset, or both"),
	[OPTION_LATEST_INVOCATION] = ROW(NULL, 'I', NONE, FILTERING, NULL,
			"Entries of the latest invocation of the unit"),
	[OPTION_IDENTIFIER] = ROW("identifier", 't', REQUIRED, FILTERING, "NAME",
			"Entries with this syslog identifier"),
	[OPTION_EXCLUDE_IDENTIFIER] = ROW("exclude-identifier", 'T', REQUIRED, FILTERING, "NAME",
			"The short modes leave out entries with this syslog identifier"),
	[OPTION_PRIORITY] = ROW("priority", 'p', REQUIRED, FILTERING, "LEVEL",
			"Entries of this level and more urgent ones, or of a range A..B"),
	[OPTION_FACILITY] = ROW("facility", 0, REQUIRED, FILTERING, "LIST",
			"Entries of these syslog facilities (help lists the names)"),
	[OPTION_GREP] = ROW("grep", 'g', REQUIRED, FILTERING, "PATTERN",
			"Entries whose message matches a PCRE2 pattern"),
	[OPTION_CASE_SENSITIVE] = ROW("case-sensitive", 0, OPTIONAL, FILTERING, "BOOL",
			"Whether upper case and lower case differ in the pattern"),
	[OPTION_DMESG] = ROW("dmesg", 'k', NONE, FILTERING, NULL,
			"Entries of the kernel, of the latest boot"),

	[OPTION_OUTPUT] = ROW("output", 'o', REQUIRED, OUTPUT, "MODE",
			      "How to print entries: json-stable, or what -o help lists"),
	[OPTION_OUTPUT_FIELDS] = ROW("output-fields", 0, REQUIRED, OUTPUT, "LIST",
				     "Print only these fields (verbose, export, json, cat)"),
	[OPTION_LINES] = ROW("lines", 'n', NEXT, OUTPUT, "[+]N",
			     "Print the last N entries (10), or with + the first"),
	[OPTION_REVERSE] = ROW("reverse", 'r', NONE, OUTPUT, NULL, "Print the newest entry first"),
	[OPTION_SHOW_CURSOR] = ROW("show-cursor", 0, NONE, OUTPUT, NULL,
				   "Print the cursor of the last entry at the end"),
	[OPTION_UTC] = ROW("utc", 0, NONE, OUTPUT, NULL, "Print times in UTC"),
	[OPTION_CATALOG] = ROW("catalog", 'x', NONE, OUTPUT, NULL,
			"Add explanations from the message catalog"),
	[OPTION_NO_HOSTNAME] =
		ROW("no-hostname", 'W', NONE, OUTPUT, NULL, "Leave out the host name"),
	[OPTION_FULL] = ROW("full", 'l', NONE, OUTPUT, NULL,
			"Print long lines in full, as is the default"),
	[OPTION_NO_FULL] = ROW("no-full", 0, NONE, OUTPUT, NULL,
			"Shorten long lines to the width of the terminal"),
	[OPTION_ALL] = ROW("all", 'a', NONE, OUTPUT, NULL,
			   "Print long and unprintable values as they are"),
	[OPTION_FOLLOW] = ROW("follow", 'f', NONE, OUTPUT, NULL,
			"The last entries (10) of the latest boot, then new ones"),
	[OPTION_NO_TAIL] =
		ROW("no-tail", 0, NONE, OUTPUT, NULL, "Print all entries, whatever -n says"),
	[OPTION_TRUNCATE_NEWLINE] = ROW("truncate-newline", 0, NONE, OUTPUT, NULL,
					"Print only the first line of a message"),
	[OPTION_QUIET] =
		ROW("quiet", 'q', NONE, OUTPUT, NULL, "No notices, no lines between boots"),
	[OPTION_SYNCHRONIZE_ON_EXIT] = ROW("synchronize-on-exit", 0, REQUIRED, OUTPUT, "BOOL",
			"Accepted; there is no daemon to wait for"),

	[OPTION_NO_PAGER] = ROW("no-pager", 0, NONE, PAGER, NULL,
				"Print to the terminal, without a pager"),
	[OPTION_PAGER_END] = ROW("pager-end", 'e', NONE, PAGER, NULL,
			"Begin at the end: the last 1000 entries of the latest boot"),

	[OPTION_INTERVAL] = SILENT("interval", 0, REQUIRED, SEALING),
	[OPTION_VERIFY_KEY] = ROW("verify-key", 0, REQUIRED, SEALING, "KEY",
				  "Verify seals with this key; implies --verify"),
	[OPTION_FORCE] = SILENT("force", 0, NONE, SEALING),

	[OPTION_HELP] = ROW("help", 'h', NONE, COMMANDS, NULL, "Print this text"),
	[OPTION_VERSION] = ROW("version", 0, NONE, COMMANDS, NULL, "Print the version"),
	[OPTION_FIELDS] = ROW("fields", 'N', NONE, COMMANDS, NULL,
			"List the names of all fields"),
	[OPTION_FIELD] = ROW("field", 'F', REQUIRED, COMMANDS, "FIELD",
			"List the values of a field"),
	[OPTION_LIST_BOOTS] = ROW("list-boots", 0, NONE, COMMANDS, NULL,
			"List the boots"),
	[OPTION_LIST_INVOCATIONS] = ROW("list-invocations", 0, NONE, COMMANDS, NULL,
			"List the invocations of a unit"),
	[OPTION_LIST_NAMESPACES] = ROW("list-namespaces", 0, NONE, COMMANDS, NULL,
			"List the log namespaces"),
	[OPTION_DISK_USAGE] = ROW("disk-usage", 0, NONE, COMMANDS, NULL,
			"Print what all files together take"),
	[OPTION_VACUUM_SIZE] = REFUSED("vacuum-size", 0, REQUIRED, COMMANDS,
			CHANGES("--vacuum-size=")),
	[OPTION_VACUUM_FILES] = REFUSED("vacuum-files", 0, REQUIRED, COMMANDS,
			CHANGES("--vacuum-files=")),
	[OPTION_VACUUM_TIME] = REFUSED("vacuum-time", 0, REQUIRED, COMMANDS,
			CHANGES("--vacuum-time=")),
	[OPTION_VERIFY] =
		ROW("verify", 0, NONE, COMMANDS, NULL, "Check that the files are consistent"),
	[OPTION_SYNC] = REFUSED("sync", 0, NONE, COMMANDS,
			SERVICE("--sync")),
	[OPTION_RELINQUISH_VAR] = REFUSED("relinquish-var", 0, NONE, COMMANDS,
			SERVICE("--relinquish-var")),
	[OPTION_SMART_RELINQUISH_VAR] = REFUSED("smart-relinquish-var", 0, NONE, COMMANDS,
			SERVICE("--smart-relinquish-var")),
	[OPTION_FLUSH] = REFUSED("flush", 0, NONE, COMMANDS,
			SERVICE("--flush")),
	[OPTION_ROTATE] = REFUSED("rotate", 0, NONE, COMMANDS,
			SERVICE("--rotate")),
	[OPTION_HEADER] = ROW("header", 0, NONE, COMMANDS, NULL,
			"Print the header of each file"),
	[OPTION_LIST_CATALOG] = ROW("list-catalog", 0, NONE, COMMANDS, NULL,
			"List the texts of the message catalog"),
	[OPTION_DUMP_CATALOG] = ROW("dump-catalog", 0, NONE, COMMANDS, NULL,
			"Print the texts of the message catalog"),
	[OPTION_UPDATE_CATALOG] = REFUSED("update-catalog", 0, NONE, COMMANDS,
			"writes the catalog: use 'journalctl --update-catalog'"),
	[OPTION_SETUP_KEYS] = REFUSED("setup-keys", 0, NONE, COMMANDS,
			"makes keys: use 'journalctl --setup-keys'"),
	[OPTION_NEW_ID128] = REFUSED("new-id128", 0, NONE, COMMANDS,
			ELSEWHERE("--new-id128")),
	[OPTION_INTROSPECT_CLI] = REFUSED("introspect-cli", 0, NONE, COMMANDS,
			ELSEWHERE("--introspect-cli")),

	[OPTION_COMPLETE] = ROW("complete", 0, NONE, OWN, NULL,
			"All entries between -S and -U, also where the clock stepped"),
	[OPTION_IO] = ROW("io", 0, REQUIRED, OWN, "METHOD",
			  "How to read: uring, threads or sync (uring where it works)"),
	[OPTION_JOBS] = ROW("jobs", 0, REQUIRED, OWN, "N",
			    "Processors to use (all that there are); 1: no thread"),
	[OPTION_CACHE] = ROW("cache", 0, REQUIRED, OWN, "MODE",
			     "What to leave in the page cache: keep, drop, or direct reads"),
	[OPTION_LIMIT_RATE] = ROW("limit-rate", 0, REQUIRED, OWN, "BYTES",
				  "Bytes to read in a second at most, with K, M or G"),
	[OPTION_MEMORY] = ROW("memory", 0, REQUIRED, OWN, "SIZE",
			      "Memory for file contents, with K, M or G (at most 128M)"),
	[OPTION_UNPACK_MAX] = ROW("unpack-max", 0, REQUIRED, OWN, "SIZE",
				  "How large a compressed file may be when unpacked (4G)"),
	[OPTION_PLAN] = ROW("plan", 0, REQUIRED, OWN, "PLAN",
			    "How to find matches: auto (by index) or scan (test each entry)"),
	[OPTION_STATS] = ROW("stats", 0, OPTIONAL, OWN, "FORMAT",
			     "Print what was read to standard error, as text or json"),
	[OPTION_STATUS] = ROW("status", 0, REQUIRED, OWN, "UNIT",
			"The last entries of a unit, as systemctl status shows them"),
	[OPTION_STRICT] = ROW("strict", 0, NONE, OWN, NULL,
			      "Name damaged files, and exit with 3 if there are any"),
	[OPTION_GAPS] = ROW("gaps", 0, OPTIONAL, OWN, "KINDS",
			    "List missing entries, clock steps, files that were not closed"),
	[OPTION_TEXT] = ROW("text", 0, REQUIRED, OWN, "HOW",
			"Unprintable text as a blob (strict) or with escapes (lenient)"),
	[OPTION_COMPRESS] = ROW("compress", 0, REQUIRED, OWN, "HOW",
				"Compress what is printed: zstd, zstd:LEVEL (1-19, 3) or lz4"),
	[OPTION_COUNT_ENTRIES] = ROW("count", 0, NONE, OWN, NULL,
				     "Print how many entries there are instead of them"),
	[OPTION_TOP] = ROW("top", 0, REQUIRED, OWN, "FIELD[:N]",
			   "List the N most frequent values of a field (10) with their counts"),
	[OPTION_HISTOGRAM] = ROW("histogram", 0, OPTIONAL, OWN, "STEP",
				 "Show how many entries there are in each step of time"),
	[OPTION_EXPLAIN] = ROW("explain", 0, NONE, OWN, NULL,
			       "List what would be done with each file, and why"),
	[OPTION_TRACE] = ROW("trace", 0, REQUIRED, OWN, "FILE",
			     "Record what is read and used of the files"),
	[OPTION_SINK] = ROW("sink", 0, REQUIRED, OWN, "SINK:WHERE",
			    "Write entries to a file too: MODE:FILE, split:DIR, ./SINK.so"),
	[OPTION_CHECKPOINT] = ROW("checkpoint", 0, REQUIRED, OWN, "FILE",
				  "Go on where the last run with this file has come to"),
};

bool option_matches(enum option_id id, const char *name, size_t size)
{
	const struct option_row *row = &option_table[id];

	return row->name && strncmp(row->name, name, size) == 0;
}

/* The one row of FIRST .. END - 1 that NAME names or abbreviates. */
static int option_find_between(enum option_id first, enum option_id end, const char *name,
			       size_t size, enum option_id *ret_id)
{
	int found = -1;

	for (enum option_id id = first; id < end; id++) {
		if (!option_matches(id, name, size))
			continue;
		if (option_table[id].name[size] == '\0') {
			*ret_id = id;
			return 0;
		}
		found = found == -1 ? (int)id : -2;
	}
	if (found == -1)
		return -ENOENT;
	if (found == -2)
		return -EEXIST;
	*ret_id = (enum option_id)found;
	return 0;
}

int option_find(const char *name, size_t size, enum option_id *ret_id)
{
	int r;

	if (size == 0)
		return -ENOENT;
	r = option_find_between(0, OPTION_OWN, name, size, ret_id);
	if (r == -ENOENT)
		r = option_find_between(OPTION_OWN, OPTION_COUNT, name, size, ret_id);
	return r;
}

int option_find_letter(char letter, enum option_id *ret_id)
{
	if (!letter)
		return -ENOENT;
	for (enum option_id id = 0; id < OPTION_COUNT; id++)
		if (option_table[id].letter == letter) {
			*ret_id = id;
			return 0;
		}
	return -ENOENT;
}

char *option_text(enum option_id id, char *text)
{
	const struct option_row *row = &option_table[id];

	if (row->name)
		snprintf(text, OPTION_TEXT_SIZE, "--%s", row->name);
	else
		snprintf(text, OPTION_TEXT_SIZE, "-%c", row->letter);
	return text;
}

/* Prints one row: "  -o --output=MODE        text". */
static void options_print_row(const struct option_row *row)
{
	char left[OPTION_TEXT_SIZE];
	const char *open = "", *shut = "";

	if (row->argument == ARGUMENT_OPTIONAL || row->argument == ARGUMENT_NEXT) {
		open = "[";
		shut = "]";
	}
	if (!row->name) {
		printf("  -%c %-24s %s\n", row->letter, "", row->help);
		return;
	}
	snprintf(left, sizeof(left), "%s%s%s%s%s", row->name, open, row->value ? "=" : "",
		 row->value ? row->value : "", shut);
	if (row->letter)
		printf("  -%c --%-22s %s\n", row->letter, left, row->help);
	else
		printf("     --%-22s %s\n", left, row->help);
}

void options_print_help(const char *program)
{
	static const char *const titles[SECTION_COUNT] = {
		[SECTION_SOURCE] = "Which files",        [SECTION_FILTERING] = "Which entries",
		[SECTION_OUTPUT] = "How they are shown", [SECTION_PAGER] = "Pager",
		[SECTION_SEALING] = "Sealing",           [SECTION_COMMANDS] = "Instead of entries",
		[SECTION_OWN] = "Beyond journalctl",
	};

	printf("%s [OPTION...] [FIELD=VALUE...] [+ FIELD=VALUE...]\n\n"
	       "Prints the entries of systemd journal files, merged in time order.\n",
	       program);
	for (unsigned section = 0; section < SECTION_COUNT; section++) {
		bool begun = false;

		for (enum option_id id = 0; id < OPTION_COUNT; id++) {
			const struct option_row *row = &option_table[id];

			if (row->section != section || row->hidden)
				continue;
			if (!begun)
				printf("\n%s:\n", titles[section]);
			begun = true;
			options_print_row(row);
		}
	}
	printf("\nWithout -D or -i the journals of this machine are read.\n");
}
