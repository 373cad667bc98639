#pragma once

#include <string_view>

namespace everseen::telemetry {

/// Reports the state of this process to its supervisor: systemd's Type=notify.
///
///     tell_supervisor("READY=1");
///
/// Sends one datagram to the socket in $NOTIFY_SOCKET. Does nothing if it is unset or nobody listens.
void tell_supervisor(std::string_view state) noexcept;

}  // namespace everseen::telemetry
