// SPDX-License-Identifier: MIT
#pragma once
// Included behind examples/first.hpp, in front of a chapter's program of which a page is made.

#define schedule traced_schedule
#define handle traced_handle
#define explore traced_explore
#define check_schedules traced_check_schedules
