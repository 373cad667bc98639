#pragma once

#include <string_view>

namespace everseen::telemetry {

/// Tells the program that started this one how it is, if that wants to know: systemd's Type=notify.
///
///     tell_supervisor("READY=1");
///
/// One datagram to the socket that $NOTIFY_SOCKET names. Does nothing where there is none, or nobody reads
/// it.
void tell_supervisor(std::string_view state) noexcept;

}  // namespace everseen::telemetry
