//! The process's one choice of TLS code, which every HTTP client needs before it is made.

/// Chooses the TLS provider, once a process; again, it changes nothing.
pub fn install() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // If another thread was quicker, there is one all the same.
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
    }
}
