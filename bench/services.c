/* SPDX-License-Identifier: MIT */
/*
 * The programs of a simulated machine. None of the texts is a real program's; their length, their
 * variety and how often each comes are those of an ordinary server.
 */
#include "bench/texts.h"

static const struct text texts_app[] = {
	{ 6, 40, "heartbeat ok", NULL },
	{ 6, 40, "queue <word>: depth <nn>", NULL },
	{ 6, 30, "served <path> with <status>", NULL },
	{ 6, 20, "task <word>-<nn> finished in <ms> ms", NULL },
	{ 7, 6, "cache: <num> entries, <nn> % used", NULL },
	{ 4, 5, "slow request: <path> took <num> ms", NULL },
	{ 6, 2, "<note>", NULL },
	{ 3, 2, "<trace>", NULL },
	{ 6, 4, "<record>", NULL },
	{ 0, 0, NULL, NULL },
};
static const struct text texts_web[] = {
	{ 6, 50, "<ip> - - \"GET <path> HTTP/1.1\" <status> <num> \"-\" \"<agent>\"", NULL },
	{ 6, 8, "<ip> - <user> \"POST <path> HTTP/2.0\" <status> <nn> \"-\" \"<agent>\"", NULL },
	{ 4, 2, "<clock> [warn] <pid>#0: *<num> upstream sent a large header, client: <ip>", NULL },
	{ 3, 1, "<clock> [error] <pid>#0: *<num> no upstream answers, client: <ip>", NULL },
	{ 0, 0, NULL, NULL },
};
static const struct text texts_shop[] = {
	{ 6, 20, "INFO  [worker-<n>] s.OrderBook - order <num> accepted", NULL },
	{ 6, 15, "INFO  [worker-<n>] s.LeaseTable - lease renewed", NULL },
	{ 4, 4, "WARN  [worker-<n>] s.Stock - <word>: only <n> left", NULL },
	{ 3, 2, "<trace>", NULL },
	{ 6, 3, "<record>", NULL },
	{ 0, 0, NULL, NULL },
};
static const struct text texts_ssh[] = {
	{ 6, 30, "Failed password for invalid user <user> from <ip> port <port> ssh2", NULL },
	{ 6, 20, "Connection closed by <ip> port <port> [preauth]", NULL },
	{ 6, 10, "Invalid user <user> from <ip> port <port>", NULL },
	{ 6, 3, "Accepted publickey for <user> from <ip> port <port> ssh2", NULL },
	{ 3, 1, "error: maximum authentication attempts exceeded for <user> from <ip>", NULL },
	{ 0, 0, NULL, NULL },
};
static const struct text texts_cron[] = {
	{ 6, 10, "(root) CMD (test -x /usr/lib/<word> && /usr/lib/<word> --quiet)", NULL },
	{ 6, 10, "session opened for user root(uid=0) by (uid=0)", NULL },
	{ 6, 10, "session closed for user root", NULL },
	{ 0, 0, NULL, NULL },
};
static const struct text texts_mail[] = {
	{ 6, 10, "connect from unknown[<ip>]", NULL },
	{ 6, 10, "disconnect from unknown[<ip>] ehlo=1 auth=0/1 quit=1", NULL },
	{ 4, 4, "warning: <ip>: login failed: authentication failure for <user>", NULL },
	{ 6, 8, "<hex>: to=<word>, relay=local, delay=<ms>, status=sent", NULL },
	{ 0, 0, NULL, NULL },
};
static const struct text texts_database[] = {
	{ 6, 10, "LOG:  checkpoint complete: wrote <num> buffers (<n>.<n> %)", NULL },
	{ 6, 8, "LOG:  automatic analysis of table \"app.public.<word>\": <ms> ms", NULL },
	{ 4, 3, "WARNING:  connection <num> to \"app\" was closed without a farewell", NULL },
	{ 3, 1, "ERROR:  duplicate key value violates \"<word>_key\"", NULL },
	{ 0, 0, NULL, NULL },
};
static const struct text texts_network[] = {
	{ 6, 10, "device (wlan0): state change: need-auth -> activated (reason none)", NULL },
	{ 6, 10, "dhcp4 (wlan0): lease of <num> seconds for <ip>", NULL },
	{ 4, 1, "dns: no answer from <ip> within <n> seconds", NULL },
	{ 0, 0, NULL, NULL },
};
static const struct text texts_kubelet[] = {
	{ 6, 10, "\"sync\" probe=\"readiness\" status=\"ready\" pod=\"shop/<word>-<n>\"", NULL },
	{ 4, 2, "\"volume is slow\" pod=\"shop/<word>-<n>\" took=\"<ms>s\"", NULL },
	{ 6, 2, "<record>", NULL },
	{ 0, 0, NULL, NULL },
};
static const struct text texts_manager[] = {
	{ 6, 10, "Started <word>-<nn>.service - The <word> of <word>.",
	  "CODE_FILE=core/job.c\nCODE_LINE=581\nCODE_FUNC=job_done\nJOB_TYPE=start\n"
	  "JOB_RESULT=done\nUNIT=<word>-<nn>.service\nJOB_ID=<num>\nTID=1\n"
	  "MESSAGE_ID=39f53479d3a045ac8e11786248231fbf" },
	{ 6, 7, "Starting <word>-<nn>.service - The <word> of <word>...",
	  "CODE_FILE=core/job.c\nCODE_LINE=573\nCODE_FUNC=job_start\nJOB_TYPE=start\n"
	  "UNIT=<word>-<nn>.service\nJOB_ID=<num>\nTID=1\n"
	  "MESSAGE_ID=7d4958e842da4a758f6c1cdc7b36dcc5" },
	{ 5, 8, "<word>-<nn>.service: Deactivated successfully.",
	  "CODE_FILE=core/unit.c\nCODE_LINE=5822\nCODE_FUNC=unit_left\nTID=1\n"
	  "UNIT=<word>-<nn>.service\nMESSAGE_ID=7ad2d189f7e94e70a38c781354912448" },
	{ 4, 1, "<word>-<nn>.service: Failed with result 'exit-code'.",
	  "CODE_FILE=core/unit.c\nCODE_LINE=5850\nCODE_FUNC=unit_left\nTID=1\n"
	  "UNIT=<word>-<nn>.service\nUNIT_RESULT=exit-code\n"
	  "MESSAGE_ID=d9b373ed55a64feb8242e02dbe79a49c" },
	{ 0, 0, NULL, NULL },
};
static const struct text texts_login[] = {
	{ 6, 10, "New session <num> of user <user>.",
	  "SESSION_ID=<num>\nUSER_ID=<user>\nLEADER=<pid>\nCODE_FILE=login/session.c\n"
	  "CODE_LINE=764\nCODE_FUNC=session_start\nMESSAGE_ID=8d45620c1a4348dbb17410da57c60c66" },
	{ 6, 4, "Session <num> logged out.", "SESSION_ID=<num>\nCODE_FILE=login/session.c" },
	{ 0, 0, NULL, NULL },
};
static const struct text texts_dump[] = {
	{ 2, 1, "Process <pid> (<word>) of user 1000 dumped core.\n\n<trace>",
	  "COREDUMP_PID=<pid>\nCOREDUMP_SIGNAL=11\nCOREDUMP_EXE=/usr/bin/<word>\n"
	  "COREDUMP_PROC_MAPS=<table>\nMESSAGE_ID=fc2e22bc6ee647b6b90729ab34a250b1" },
	{ 0, 0, NULL, NULL },
};
static const struct text texts_kernel[] = {
	{ 6, 20, "<word>0: port 1(veth<hex>) entered blocking state", NULL },
	{ 6, 20, "<word>0: port 1(veth<hex>) entered forwarding state", NULL },
	{ 6, 10, "usb 1-<n>: new high-speed device number <nn>",
	  "_KERNEL_SUBSYSTEM=usb\n_KERNEL_DEVICE=+usb:1-<n>\n_UDEV_SYSNAME=1-<n>" },
	{ 6, 10, "usb 1-<n>: device number <nn> has gone",
	  "_KERNEL_SUBSYSTEM=usb\n_KERNEL_DEVICE=+usb:1-<n>\n_UDEV_SYSNAME=1-<n>" },
	{ 4, 10, "firewall: refused IN=eth0 SRC=<ip> PROTO=TCP SPT=<port> DPT=<nn>", NULL },
	{ 3, 1, "EXT4-fs error (device vda<n>): inode #<num>: checksum differs", NULL },
	{ 0, 0, NULL, NULL },
};
static const struct text texts_audit[] = {
	{ 5, 10, "pid=<pid> uid=0 auid=1000 ses=<n> msg='op=login acct=\"<user>\" res=success'",
	  "_AUDIT_TYPE=1112\n_AUDIT_TYPE_NAME=USER_LOGIN\n_AUDIT_ID=<num>" },
	{ 5, 10, "proctitle=<hex><hex><hex>",
	  "_AUDIT_TYPE=1327\n_AUDIT_TYPE_NAME=PROCTITLE\n_AUDIT_ID=<num>" },
	{ 0, 0, NULL, NULL },
};
static const struct text texts_session[] = {
	{ 6, 30, "<word>: window <nn> redrawn", NULL },
	{ 4, 20, "<word>-CRITICAL: assertion '<word> != none' failed", NULL },
	{ 6, 10, "<word> has synchronised <num> files in <ms> ms", NULL },
	{ 6, 3, "<note>", NULL },
	{ 0, 0, NULL, NULL },
};
static const struct text texts_agent[] = {
	{ 6, 40, "tick", NULL },
	{ 6, 30, "build <word>: step <nn> of 99", NULL },
	{ 6, 20, "ok <num> - <word> <word>", NULL },
	{ 4, 3, "not ok <num> - <word> <word>", NULL },
	{ 6, 1, "<record>", NULL },
	{ 0, 0, NULL, NULL },
};

const struct service services_of_system[] = {
	{ "kernel", NULL, NULL, NULL, NULL, TRANSPORT_KERNEL, 0, 116, 1, texts_kernel },
	{ "systemd", "init.scope", "-.slice", "/usr/lib/systemd/systemd", " --switched-root",
	  TRANSPORT_JOURNAL, 0, 60, 1, texts_manager },
	{ "nginx", "nginx.service", "system.slice", "/usr/sbin/nginx", " -g daemon_off",
	  TRANSPORT_STDOUT, 33, 110, 3, texts_web },
	{ "node", "app@%u.service", "system-app.slice", NULL, NULL, TRANSPORT_STDOUT, 998, 240, 60,
	  texts_app },
	{ "worker", "worker@%u.service", "system-worker.slice", NULL, NULL, TRANSPORT_STDOUT, 997,
	  100, 40, texts_app },
	{ "java", "shop.service", "system.slice", "/usr/bin/java",
	  " -Xmx2g -jar /opt/shop/shop.jar", TRANSPORT_STDOUT, 996, 60, 1, texts_shop },
	{ "kubelet", "kubelet.service", "system.slice", "/usr/bin/kubelet", " --config=/etc/k.yaml",
	  TRANSPORT_STDOUT, 0, 60, 1, texts_kubelet },
	{ "sshd", "ssh.service", "system.slice", "/usr/sbin/sshd", " -D", TRANSPORT_SYSLOG, 0, 50,
	  1, texts_ssh },
	{ "CRON", "cron.service", "system.slice", "/usr/sbin/cron", " -f", TRANSPORT_SYSLOG, 0, 40,
	  1, texts_cron },
	{ "postfix/smtpd", "postfix@-.service", "system-postfix.slice",
	  "/usr/lib/postfix/sbin/smtpd", " -n smtp -t inet -u", TRANSPORT_SYSLOG, 105, 40, 1,
	  texts_mail },
	{ "postgres", "postgresql@15-main.service", "system-postgresql.slice",
	  "/usr/lib/postgresql/15/bin/postgres", " -D /var/lib/postgresql/15/main",
	  TRANSPORT_STDOUT, 110, 40, 4, texts_database },
	{ "NetworkManager", "NetworkManager.service", "system.slice", "/usr/sbin/NetworkManager",
	  " --no-daemon", TRANSPORT_SYSLOG, 0, 20, 1, texts_network },
	{ "systemd-logind", "systemd-logind.service", "system.slice",
	  "/usr/lib/systemd/systemd-logind", "", TRANSPORT_JOURNAL, 0, 8, 1, texts_login },
	{ "systemd-coredump", "systemd-coredump@%u.service", "system-systemd\\x2dcoredump.slice",
	  "/usr/lib/systemd/systemd-coredump", "", TRANSPORT_JOURNAL, 0, 1, 2, texts_dump },
	{ "audit", NULL, NULL, NULL, NULL, TRANSPORT_AUDIT, 0, 10, 1, texts_audit },
	{ 0 },
};

const struct service services_of_user[] = {
	{ "shell", "desktop-shell.service", "session.slice", "/usr/bin/desktop-shell", "",
	  TRANSPORT_STDOUT, 1000, 40, 1, texts_session },
	{ "agent", "agent@%u.service", "app-agent.slice", NULL, NULL, TRANSPORT_STDOUT, 1000, 100,
	  30, texts_agent },
	{ "sync", "sync.service", "app.slice", "/usr/bin/sync-files", " --watch", TRANSPORT_STDOUT,
	  1000, 30, 1, texts_session },
	{ "systemd", "init.scope", NULL, "/usr/lib/systemd/systemd", " --user", TRANSPORT_JOURNAL,
	  1000, 10, 1, texts_manager },
	{ 0 },
};
