//! Addresses of any kind are read or refused, never more.

use fw_link::{Address, duration};
use proptest::prelude::*;

proptest! {
    /// What is refused names the address; what is accepted is shown as it was written.
    #[test]
    fn any_text(text in "(serial|tcp|tcp-listen|udp|ws|ws-listen|file|-|x)?:?[ -~äß]{0,40}") {
        match text.parse::<Address>() {
            Ok(address) => {
                prop_assert_eq!(address.to_string(), text.clone());
                prop_assert!(text == "-" || Address::is_link(&text) || text.starts_with("file:"));
            }
            Err(error) => {
                prop_assert!(error.to_string().starts_with(&text), "{}", error);
                prop_assert_eq!(error.code(), "invalid_address");
            }
        }
    }

    /// Hosts and ports come through, in every form that has them.
    #[test]
    fn hosts_and_ports(host in "[a-z][a-z0-9.-]{0,20}|\\[[0-9a-f:]{2,10}\\]", port in 1_u16.., scheme in "tcp|tcp-listen|udp|ws|ws-listen") {
        use fw_link::Endpoint::{Tcp, TcpListen, Udp, Ws, WsListen};
        let address: Address = format!("{scheme}:{host}:{port}?retry=3s").parse().unwrap();
        let found = match &address.endpoint {
            Tcp(host, port) | TcpListen(host, port) | Udp(host, port) | Ws(host, port, _) | WsListen(host, port) => (host.clone(), *port),
            other => panic!("{other:?}"),
        };
        prop_assert_eq!(found, (host.trim_matches(['[', ']']).to_owned(), port));
    }

    #[test]
    fn durations(text in "[0-9.]{0,12}(ms|s|m|h|min|d|)?") {
        if let Some(found) = duration(&text) {
            prop_assert!(found.as_secs() <= 366 * 86_400);
        }
    }
}
