/* SPDX-License-Identifier: MIT */
/* A library that is no tool. */
extern int not_a_tool;
int not_a_tool = 1;
