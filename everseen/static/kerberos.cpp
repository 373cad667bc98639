// What librdkafka uses of libsasl2: for GSSAPI alone, whose mechanisms are libraries that libsasl2 loads.
// Without them there is no Kerberos, and the message says so. PLAIN, SCRAM and OAUTHBEARER are librdkafka's
// own.

namespace {

constexpr int no_mechanism = -4;  // SASL_NOMECH
constexpr const char* words =
    "this program is static and has no Kerberos (GSSAPI): set sasl.mechanism to SCRAM-SHA-512, "
    "SCRAM-SHA-256, PLAIN or "
    "OAUTHBEARER, or use the program of the Debian package";

}  // namespace

extern "C" {

int sasl_client_init(const void* /*callbacks*/) {
  return 0;
}
int sasl_client_new(const char* /*service*/, const char* /*server*/, const char* /*local*/,
                    const char* /*remote*/, const void* /*callbacks*/, unsigned /*flags*/,
                    void** connection) {
  *connection = nullptr;
  return no_mechanism;
}
int sasl_client_start(void* /*connection*/, const char* /*mechanisms*/, void** /*prompts*/,
                      const char** /*out*/, unsigned* /*length*/, const char** /*chosen*/) {
  return no_mechanism;
}
int sasl_client_step(void* /*connection*/, const char* /*in*/, unsigned /*in_length*/, void** /*prompts*/,
                     const char** /*out*/, unsigned* /*length*/) {
  return no_mechanism;
}
int sasl_listmech(void* /*connection*/, const char* /*user*/, const char* /*prefix*/,
                  const char* /*separator*/, const char* /*suffix*/, const char** /*result*/,
                  unsigned* /*length*/, int* /*count*/) {
  return no_mechanism;
}
int sasl_getprop(void* /*connection*/, int /*property*/, const void** /*value*/) {
  return no_mechanism;
}
const char* sasl_errstring(int /*error*/, const char* /*languages*/, const char** /*chosen*/) {
  return words;
}
const char* sasl_errdetail(void* /*connection*/) {
  return words;
}
void sasl_dispose(void** /*connection*/) {}

}  // extern "C"
