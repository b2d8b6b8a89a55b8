//! The TCP part of a packet, under whatever the interface puts around it.

use std::net::{IpAddr, SocketAddr};

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use pcap_parser::Linktype;

use super::packets::Packet;

/// Bytes of a header of Linux's "any" interface, in its two versions, and where the protocol stands.
const SLL: (usize, usize) = (16, 14);
const SLL2: (usize, usize) = (20, 0);
/// Bytes of BSD's loopback header.
const NULL_BYTES: usize = 4;

/// A segment.
#[derive(Debug, Clone, Copy)]
#[allow(clippy::struct_excessive_bools, reason = "flags of the packet's own")]
pub(super) struct Segment<'a> {
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
    pub(super) sequence: u32,
    /// Number up to which the sender has received the other side's bytes.
    pub(super) acknowledged: Option<u32>,
    /// The client's first: `SYN` alone.
    pub(super) is_first_of_client: bool,
    pub(super) is_first: bool,
    pub(super) is_last: bool,
    pub(super) is_reset: bool,
    pub(super) payload: &'a [u8],
    /// The file has not all of the payload.
    pub(super) is_cut: bool,
}

/// The segment of a packet; `None` if it is no TCP.
pub(super) fn segment(packet: &Packet) -> Option<Segment<'_>> {
    let data = packet.data.as_slice();
    let after = |(length, at): (usize, usize)| {
        let protocol = data.get(at..at + 2)?;
        let protocol = EtherType(u16::from_be_bytes([protocol[0], protocol[1]]));
        Some(LaxSlicedPacket::from_ether_type(
            protocol,
            data.get(length..)?,
        ))
    };
    let sliced = match packet.link {
        Linktype::ETHERNET => LaxSlicedPacket::from_ethernet(data).ok()?,
        Linktype::LINUX_SLL => after(SLL)?,
        Linktype(276) => after(SLL2)?,
        Linktype::NULL => LaxSlicedPacket::from_ip(data.get(NULL_BYTES..)?).ok()?,
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 => LaxSlicedPacket::from_ip(data).ok()?,
        _ => return None,
    };
    let (from, to): (IpAddr, IpAddr) = match sliced.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => (
            ip.header().source_addr().into(),
            ip.header().destination_addr().into(),
        ),
        LaxNetSlice::Ipv6(ip) => (
            ip.header().source_addr().into(),
            ip.header().destination_addr().into(),
        ),
        LaxNetSlice::Arp(_) => return None,
    };
    let Some(TransportSlice::Tcp(tcp)) = sliced.transport else {
        return None;
    };
    Some(Segment {
        from: SocketAddr::new(from, tcp.source_port()),
        to: SocketAddr::new(to, tcp.destination_port()),
        sequence: tcp.sequence_number(),
        acknowledged: tcp.ack().then(|| tcp.acknowledgment_number()),
        is_first_of_client: tcp.syn() && !tcp.ack(),
        is_first: tcp.syn(),
        is_last: tcp.fin(),
        is_reset: tcp.rst(),
        payload: tcp.payload(),
        is_cut: packet.is_cut,
    })
}
