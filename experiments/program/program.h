#pragma once

#include <functional>

namespace saccade {

/// The program `saccade`: runs the command of a command line, prints what it says and returns the
/// exit code of main() (0 done, 1 failed, 2 bad input, 130 interrupted). Throws nothing.
///
/// A program of its own has kinds of its own: `register_kinds` is called first and adds them to the
/// tables (register_task_kind, register_digit_source, register_score, register_reward,
/// register_core, register_optimizer, register_policy, register_glimpse_kind). All commands, help,
/// completion, the schema and messages then know them, with their settings. What it throws is
/// reported like any error.
///
/// Call it once, from main(), before other threads exist: it waits for signals in a thread, and
/// blocks them in all others.
int run_program(int argc, const char* const* argv,
                const std::function<void()>& register_kinds = {});

}  // namespace saccade
