/* SPDX-License-Identifier: MIT */
/* Checks between options. */
#ifndef CLI_CHECKS_H
#define CLI_CHECKS_H

#include "settings.h"

/* 1: the options go together; else the message of the first check that fails has been printed, and
 * -EINVAL is returned. */
int checks_pass(const struct settings *settings);

#endif
