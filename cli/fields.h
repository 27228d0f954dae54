/* SPDX-License-Identifier: MIT */
/* The actions -F and -N: values of a field, names of fields. */
#ifndef CLI_FIELDS_H
#define CLI_FIELDS_H

#include "archive.h"

/* Negative answers have been explained. */
int fields_list_values(struct archive *archive);
int fields_list_names(struct archive *archive);

#endif
