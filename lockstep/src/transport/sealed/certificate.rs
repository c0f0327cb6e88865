//! A server's certificate, which nobody has signed but its own key, and how clients check it: by its hash.

use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use quinn::rustls::client::verify_server_cert_signed_by_trust_anchor;
use quinn::rustls::crypto::{self, CryptoProvider, WebPkiSupportedAlgorithms};
use quinn::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use quinn::rustls::server::ParsedCertificate;
use quinn::rustls::version::TLS13;
use quinn::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, ServerConfig,
    SignatureScheme,
};
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256};
use sha2::{Digest, Sha256};
use wtransport_proto::WEBTRANSPORT_ALPN;

/// A day.
const DAY: core::time::Duration = core::time::Duration::from_secs(86_400);

/// How long a certificate is valid, in days. Browsers take a certificate by its hash only if it is valid for 14 days at most, and so does a
/// client here.
const VALID_DAYS: u32 = 13;
const VALID_DAYS_MAX: u32 = 14;

/// How much of it lies in the past, for clients whose clocks are behind: a day.
pub(super) const VALID_BEFORE: core::time::Duration = DAY;

/// A certificate that is valid for less than this is no good to whoever connects now.
const MARGIN: core::time::Duration = core::time::Duration::from_secs(3_600);

/// Whether a certificate that is valid from `start` on is valid now, and will be for a while.
pub(super) fn is_valid(start: SystemTime, now: SystemTime) -> bool {
    (start + MARGIN..start + DAY * VALID_DAYS - MARGIN).contains(&now)
}

/// A server's side of TLS with a fresh key on the curve P-256 and a certificate signed with it, and the hash of the certificate. Its names
/// mean nothing: clients compare the hash.
pub(super) fn server(start: SystemTime) -> io::Result<(Arc<QuicServerConfig>, [u8; 32])> {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(io::Error::other)?;
    let mut about = CertificateParams::new(["localhost".into()]).map_err(io::Error::other)?;
    about.not_before = start.into();
    about.not_after = (start + DAY * VALID_DAYS).into();
    let certificate = about.self_signed(&key).map_err(io::Error::other)?;
    let hash = hash(certificate.der());
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let mut tls = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .and_then(|tls| {
            tls.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key.into())
        })
        .map_err(io::Error::other)?;
    tls.alpn_protocols = vec![WEBTRANSPORT_ALPN.to_vec()];
    let tls = QuicServerConfig::try_from(tls).map_err(io::Error::other)?;
    Ok((Arc::new(tls), hash))
}

/// A client's side of TLS, for the server whose certificate has this hash.
pub(super) fn client(hash: [u8; 32]) -> io::Result<Arc<QuicClientConfig>> {
    let provider = provider();
    let algorithms = provider.signature_verification_algorithms;
    let mut tls = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Pinned { hash, algorithms }))
        .with_no_client_auth();
    tls.alpn_protocols = vec![WEBTRANSPORT_ALPN.to_vec()];
    QuicClientConfig::try_from(tls).map(Arc::new).map_err(io::Error::other)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(crypto::ring::default_provider())
}

fn hash(certificate: &[u8]) -> [u8; 32] {
    Sha256::digest(certificate).into()
}

/// Takes one certificate only, while it is valid, for 14 more days at most, and with a key on P-256.
#[derive(Debug)]
struct Pinned {
    hash: [u8; 32],
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if hash(certificate) != self.hash {
            return Err(CertificateError::UnknownIssuer.into());
        }
        // Nobody but itself vouches for it.
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone().into_owned())?;
        let certificate = ParsedCertificate::try_from(certificate)?;
        let check = |time| {
            let algorithms = self.algorithms.all;
            verify_server_cert_signed_by_trust_anchor(&certificate, &roots, &[], time, algorithms)
        };
        check(now)?;
        let later = core::time::Duration::from_secs(now.as_secs()) + DAY * VALID_DAYS_MAX;
        match check(UnixTime::since_unix_epoch(later)) {
            Ok(()) => Err(CertificateError::UnknownIssuer.into()),
            Err(_) => Ok(ServerCertVerified::assertion()),
        }
    }

    // There is only TLS 1.3.
    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(CertificateError::BadSignature.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        // As browsers do.
        if signed.scheme != SignatureScheme::ECDSA_NISTP256_SHA256 {
            return Err(CertificateError::UnknownIssuer.into());
        }
        crypto::verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
