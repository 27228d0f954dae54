/* SPDX-License-Identifier: MIT */
/*
 * Sinks from shared objects: one is loaded, looked at before anything of it is called, and becomes
 * a sink like any other. What does not fit is refused with a reason.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>

#include "engine/engine.h"

/* Where a refusal is explained. */
struct sink_module_text {
	char *text;
	size_t size;
};

/* Says why, and returns ERROR. */
static __attribute__((format(printf, 3, 4))) int
sink_module_refuse(const struct sink_module_text *to, int error, const char *format, ...)
{
	va_list arguments;

	if (to->text && to->size) {
		va_start(arguments, format);
		vsnprintf(to->text, to->size, format, arguments);
		va_end(arguments);
	}
	return error;
}

/* Finds the entry point of a library and checks that it fits. */
static int sink_module_find(void *library, const struct sink_module_text *to,
			    const struct jscan_sink_module **ret_module)
{
	const struct jscan_sink_module *module = dlsym(library, JSCAN_SINK_MODULE_SYMBOL);

	if (!module)
		return sink_module_refuse(to, -ELIBBAD, "it does not export %s",
					  JSCAN_SINK_MODULE_SYMBOL);
	/* The size comes first in every version, the version second. */
	if (module->size < sizeof(*module))
		return sink_module_refuse(to, -ELIBBAD, "its %s has %zu bytes, not %zu",
					  JSCAN_SINK_MODULE_SYMBOL, module->size, sizeof(*module));
	if (module->version != JSCAN_SINK_MODULE_VERSION)
		return sink_module_refuse(to, -ELIBBAD, "it is a sink of version %u, not %u",
					  module->version, JSCAN_SINK_MODULE_VERSION);
	if (!module->open)
		return sink_module_refuse(to, -ELIBBAD, "its %s has no open function",
					  JSCAN_SINK_MODULE_SYMBOL);
	*ret_module = module;
	return 0;
}

/* Attaches what a module has made. */
static int sink_module_attach(struct jscan *e, const struct jscan_sink_ops *given, void *userdata,
			      const char *const *fields, struct sink **ret_sink)
{
	struct jscan_sink_ops ops = { 0 };

	if (given) {
		memcpy(&ops, given, given->size < sizeof(ops) ? given->size : sizeof(ops));
		if (fields) {
			ops.fields = fields;
			ops.size = given->size < sizeof(ops) ? sizeof(ops) : given->size;
		}
	}
	return sink_add(&e->sinks, given && given->size >= offsetof(struct jscan_sink_ops, free) ?
					   &ops : NULL,
			userdata, ret_sink);
}

/* Opens the sink of a library, and attaches it. */
static int sink_module_open(struct jscan *e, void *library, const char *argument,
			    const char *const *fields, const struct sink_module_text *to)
{
	const struct jscan_sink_module *module = NULL;
	const struct jscan_sink_ops *ops = NULL;
	void *userdata = NULL;
	char spare[1] = "";
	struct sink *sink;
	int r = sink_module_find(library, to, &module);

	if (r < 0)
		return r;
	r = module->open(argument, &ops, &userdata, to->size ? to->text : spare,
			 to->size ? to->size : sizeof(spare));
	if (r < 0) {
		if (to->size && !to->text[0])
			sink_module_refuse(to, r, "%s", strerror(-r));
		return r;
	}
	r = sink_module_attach(e, ops, userdata, fields, &sink);
	if (r < 0) {
		if (ops && ops->size >= offsetof(struct jscan_sink_ops, fields) && ops->free)
			ops->free(userdata);
		return r == -ENOMEM ? sink_module_refuse(to, r, "%s", strerror(-r)) :
				      sink_module_refuse(to, -ELIBBAD, "it lacks slots that a sink "
								       "needs");
	}
	sink->library = library;
	return 0;
}

int jscan_add_sink_module(struct jscan *e, const char *path, const char *argument,
			  const char *const *fields, char *text, size_t size)
{
	const struct sink_module_text to = { text, text ? size : 0 };
	void *library;
	int r = engine_check(e);

	if (to.size)
		to.text[0] = '\0';
	if (r < 0)
		return r;
	if (!path || e->sinks_begun)
		return sink_module_refuse(&to, -EINVAL, "it comes too late");
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return sink_module_refuse(&to, -ELIBACC, "%s", dlerror());
	r = sink_module_open(e, library, argument, fields, &to);
	if (r < 0)
		dlclose(library);
	return r;
}
