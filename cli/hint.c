// SPDX-License-Identifier: MIT
/*
 * The hint to callers who may not read some of the files: which groups may. These are those in the
 * default access list of the directory of journals, as it stands in an extended attribute, beside
 * the group systemd-journal; a member of one of them needs no hint.
 */
#include <endian.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "hint.h"
#include "messages.h"

#define HINT_GROUP "systemd-journal"
#define HINT_GROUPS_MAX 64

/* The attribute: a version, then entries, all little-endian. */
#define ACL_VERSION 2u
#define ACL_TAG_GROUP 0x08u
#define ACL_READ 0x04u

struct acl_entry {
	uint16_t tag, permissions;
	uint32_t id;
};

struct hint_groups {
	char *names[HINT_GROUPS_MAX];
	size_t count;
};

/* By name; for qsort(). */
static int hint_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds a group, once. */
static void hint_add(struct hint_groups *groups, const char *name)
{
	for (size_t i = 0; i < groups->count; i++)
		if (strcmp(groups->names[i], name) == 0)
			return;
	if (groups->count == HINT_GROUPS_MAX)
		return;
	groups->names[groups->count] = strdup(name);
	if (groups->names[groups->count])
		groups->count++;
}

/* Whether the caller is in a group. */
static bool hint_is_member(gid_t group)
{
	gid_t groups[1024];
	int count = getgroups(sizeof(groups) / sizeof(groups[0]), groups);

	if (group == getgid() || group == getegid())
		return true;
	for (int i = 0; i < count; i++)
		if (groups[i] == group)
			return true;
	return false;
}

/* Collects the groups that may read what is in DIRECTORY. True if the caller is in one of them. */
static bool hint_search(const char *directory, struct hint_groups *groups)
{
	unsigned char bytes[4096];
	ssize_t size = getxattr(directory, "system.posix_acl_default", bytes, sizeof(bytes));
	uint32_t version;

	if (size < (ssize_t)sizeof(version))
		return false;
	memcpy(&version, bytes, sizeof(version));
	if (le32toh(version) != ACL_VERSION)
		return false;
	for (size_t at = sizeof(version); at + sizeof(struct acl_entry) <= (size_t)size;
	     at += sizeof(struct acl_entry)) {
		struct acl_entry entry;
		struct group *group;

		memcpy(&entry, bytes + at, sizeof(entry));
		if (le16toh(entry.tag) != ACL_TAG_GROUP ||
		    !(le16toh(entry.permissions) & ACL_READ))
			continue;
		if (hint_is_member(le32toh(entry.id)))
			return true;
		group = getgrgid(le32toh(entry.id));
		if (group)
			hint_add(groups, group->gr_name);
	}
	return false;
}

/* The names in quotes, separated by commas; NULL without memory. To be freed. */
static char *hint_join(struct hint_groups *groups)
{
	char *text = NULL;
	size_t size;
	FILE *f;

	qsort(groups->names, groups->count, sizeof(groups->names[0]), hint_compare);
	f = open_memstream(&text, &size);
	if (!f)
		return NULL;
	for (size_t i = 0; i < groups->count; i++)
		fprintf(f, "%s'%s'", i > 0 ? ", " : "", groups->names[i]);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

void hint_print(const struct settings *settings)
{
	const char *run = "/run/log/journal";
	const char *whose = settings->seen[OPTION_USER] || settings->user_unit_count > 0 ?
				    "the system" :
				    "other users and the system";
	struct hint_groups groups = { .count = 0 };
	struct group *group = getgrnam(HINT_GROUP);
	bool member = group && hint_is_member(group->gr_gid);
	char *names = NULL;

	if (settings->quiet || member)
		return;
	member = hint_search(access(run, F_OK) == 0 ? run : "/var/log/journal", &groups);
	if (!member && groups.count > 0) {
		hint_add(&groups, HINT_GROUP);
		names = hint_join(&groups);
	}
	if (names)
		message_notice("Hint: You are currently not seeing messages from %s.\n"
			       "      Users in groups %s can see all messages.\n"
			       "      Pass -q to turn off this notice.",
			       whose, names);
	else if (!member)
		message_notice("Hint: You are currently not seeing messages from %s.\n"
			       "      Users in the '" HINT_GROUP
			       "' group can see all messages. Pass -q to\n"
			       "      turn off this notice.",
			       whose);
	free(names);
	for (size_t i = 0; i < groups.count; i++)
		free(groups.names[i]);
}
