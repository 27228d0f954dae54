/* SPDX-License-Identifier: MIT */
/*
 * Building and evaluating match expressions. Five levels at most, so recursion is bounded. The
 * order of siblings does not change what matches, so they stand in the order of adding.
 */
#include "engine/match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/journal/journal.h"

/* Frees a node and what is below it. */
static void match_node_free(struct match_node *node)
{
	if (!node)
		return;
	for (size_t i = 0; i < node->child_count; i++)
		match_node_free(node->children[i]);
	free(node->children);
	free(node->data);
	free(node);
}

void match_done(struct match *m)
{
	match_node_free(m->root);
	*m = (struct match){ 0 };
}

/* Makes a node below PARENT, which may be NULL. */
static struct match_node *match_node_new(struct match_node *parent, enum match_kind kind)
{
	struct match_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->kind = kind;
	node->parent = parent;
	if (parent) {
		struct match_node **children = reallocarray(parent->children,
							    parent->child_count + 1,
							    sizeof(*children));

		if (!children) {
			free(node);
			return NULL;
		}
		parent->children = children;
		children[parent->child_count++] = node;
	}
	return node;
}

bool match_is_valid(const void *data, size_t size, size_t *ret_name_size)
{
	const char *p = data;
	size_t i;

	if (size < 2 || (p[0] == '_' && p[1] == '_'))
		return false;
	for (i = 0; i < size && p[i] != '='; i++) {
		if (!(p[i] >= 'A' && p[i] <= 'Z') && !(p[i] >= '0' && p[i] <= '9') && p[i] != '_')
			return false;
	}
	if (i == 0 || i == size)
		return false;
	*ret_name_size = i;
	return true;
}

/* The OR of terms of one field in the current alternative, made if missing. */
static struct match_node *match_field_node(struct match *m, const void *data, size_t name_size)
{
	struct match_node *node;

	for (size_t i = 0; i < m->inner->child_count; i++) {
		node = m->inner->children[i];
		if (node->name_size == name_size && node->child_count > 0 &&
		    memcmp(node->children[0]->data, data, name_size + 1) == 0)
			return node;
	}
	node = match_node_new(m->inner, MATCH_OR);
	if (node)
		node->name_size = name_size;
	return node;
}

/* Makes whatever is missing of the path from the root to the current alternative. */
static int match_open_path(struct match *m)
{
	if (!m->root) {
		m->root = match_node_new(NULL, MATCH_AND);
		if (!m->root)
			return -ENOMEM;
	}
	if (!m->middle) {
		m->middle = match_node_new(m->root, MATCH_OR);
		if (!m->middle)
			return -ENOMEM;
	}
	if (!m->inner) {
		m->inner = match_node_new(m->middle, MATCH_AND);
		if (!m->inner)
			return -ENOMEM;
	}
	return 0;
}

int match_add(struct match *m, const void *data, size_t size)
{
	struct match_node *field, *term;
	size_t name_size;
	uint8_t *copy;
	int r;

	if (!match_is_valid(data, size, &name_size))
		return -EINVAL;
	r = match_open_path(m);
	if (r < 0)
		return r;
	field = match_field_node(m, data, name_size);
	if (!field)
		return -ENOMEM;
	for (size_t i = 0; i < field->child_count; i++) {
		term = field->children[i];
		if (term->size == size && memcmp(term->data, data, size) == 0)
			return 0;
	}
	copy = malloc(size);
	if (!copy)
		return -ENOMEM;
	term = match_node_new(field, MATCH_TERM);
	if (!term) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, data, size);
	term->data = copy;
	term->size = size;
	term->name_size = name_size;
	term->hash = hash_jenkins(data, size);
	term->ordinal = m->term_count++;
	return 0;
}

int match_or(struct match *m)
{
	m->inner = NULL;
	return 0;
}

int match_and(struct match *m)
{
	m->middle = m->inner = NULL;
	return 0;
}

bool match_evaluate(const struct match_node *node, const bool *has)
{
	switch (node->kind) {
	case MATCH_TERM:
		return has[node->ordinal];
	case MATCH_AND:
		for (size_t i = 0; i < node->child_count; i++) {
			if (!match_evaluate(node->children[i], has))
				return false;
		}
		return true;
	case MATCH_OR:
		for (size_t i = 0; i < node->child_count; i++) {
			if (match_evaluate(node->children[i], has))
				return true;
		}
		return false;
	}
	return false;
}
