/* SPDX-License-Identifier: MIT */
/* Intrusive doubly linked lists: a node is embedded in what it links. */
#ifndef URING_LIST_H
#define URING_LIST_H

#include <stdbool.h>
#include <stddef.h>

#ifndef container_of
#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))
#endif

struct list {
	struct list *next, *prev;
};

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool list_is_empty(const struct list *l)
{
	return l->next == l;
}

static inline void list_append(struct list *l, struct list *node)
{
	node->prev = l->prev;
	node->next = l;
	l->prev->next = node;
	l->prev = node;
}

static inline void list_prepend(struct list *l, struct list *node)
{
	list_append(l->next, node);
}

/* Unlinks a node, which may be linked nowhere (initialised). */
static inline void list_remove(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

/* Unlinks and returns the first node, or NULL. */
static inline struct list *list_pop(struct list *l)
{
	struct list *node = l->next;

	if (node == l)
		return NULL;
	list_remove(node);
	return node;
}

/* Moves all nodes of FROM to the end of TO. */
static inline void list_splice(struct list *to, struct list *from)
{
	if (list_is_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

/* Walks a list; NODE must stay linked until the next step. */
#define list_for_each(node, l) for ((node) = (l)->next; (node) != (l); (node) = (node)->next)

#endif
