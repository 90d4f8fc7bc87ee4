#include "ending.hpp"

#include "surefoot/certify/verify.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/io/checkpoint_file.hpp"

#include "exit_codes.hpp"
#include "say.hpp"
#include "stopping.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

using namespace surefoot;

namespace {

Failure system_failure(const std::system_error& error) {
  if (error.code().value() == EAGAIN)  // a thread that could not be started
    return {fmt::format("{}: a thread could not be started", experiments::out_of_memory()), no_resources};
  const bool room = is_lack_of_room(error.code().value()) || error.code().value() == EPIPE;
  return {fmt::format("{}{}", room ? "cannot write: " : "", error.what()), room ? no_resources : bad_input};
}

}  // namespace

Failure end_of(const std::function<int()>& work) {
  try {
    return {"", work()};
  } catch (const OtherRankFailed& other) {
    return other.failure();
  } catch (const Interrupted&) {
    return ranks().fail({stopped_line(), stopped_exit_code()});
  } catch (const surefoot::certify::Refuted& error) {
    return ranks().fail({error.what(), refuted});
  } catch (const ResourceError& error) {
    return ranks().fail({error.what(), no_resources});
  } catch (const InputError& error) {
    return ranks().fail({error.what(), bad_input});
  } catch (const std::system_error& error) {
    return ranks().fail(system_failure(error));
  } catch (const std::length_error&) {  // more than any memory holds
    return ranks().fail({experiments::out_of_memory(), no_resources});
  } catch (const std::bad_alloc&) {
    return ranks().fail({experiments::out_of_memory(), no_resources});
  } catch (const std::exception& error) {
    return ranks().fail({fmt::format("internal error: {}", error.what()), internal_error});
  } catch (...) {
    return ranks().fail({"internal error", internal_error});
  }
}

int last_words(Failure end) {
  // What was written before may have failed without a word.
  if (end.message.empty() && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0))
    end = {"cannot write to standard output", no_resources};
  if (!end.message.empty()) say(end.message);
  const io::CheckpointLosses& losses = io::checkpoint_losses();
  if (losses.count > 0) {
    say(fmt::format("{} checkpoint{} could not be written: {}", losses.count, losses.count == 1 ? "" : "s",
                    losses.last));
  }
  return end.exit_code;
}
