//! A relay that keeps what passes as packets, and writes them as pcap or pcapng.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use etherparse::PacketBuilder;

/// Bytes of a segment, at most.
const SEGMENT: usize = 1_448;
const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 2];
const SERVER_PORT: u16 = 3306;

/// A packet of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) at_us: u64,
    pub(crate) connection: u16,
    /// 0 for the client, 1 for the server.
    pub(crate) side: usize,
    pub(crate) bytes: Vec<u8>,
    /// It carries no payload and could be left out without a loss.
    pub(crate) is_empty: bool,
}

#[derive(Default)]
struct Sides {
    /// Bytes that each side has sent.
    sent: [u32; 2],
}

/// A relay before a server.
pub(crate) struct Wire {
    pub(crate) port: u16,
    frames: Arc<Mutex<Vec<Frame>>>,
}

impl Wire {
    pub(crate) fn before(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let frames = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&frames);
        std::thread::spawn(move || {
            for (number, client) in (1..).zip(listener.incoming()) {
                let client = client.unwrap();
                let server = TcpStream::connect(("127.0.0.1", server)).unwrap();
                carry(number, &client, &server, &kept);
            }
        });
        Self { port, frames }
    }

    /// What has passed, in the order of time, once all connections have ended.
    pub(crate) fn frames(&self) -> Vec<Frame> {
        // Each side of a connection holds them, this value does, and who takes connections.
        let until = Instant::now() + Duration::from_secs(30);
        while Arc::strong_count(&self.frames) > 2 {
            assert!(Instant::now() < until, "a connection does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
        self.frames.lock().unwrap().clone()
    }
}

/// Passes the bytes of a connection on and keeps them.
fn carry(number: u16, client: &TcpStream, server: &TcpStream, frames: &Arc<Mutex<Vec<Frame>>>) {
    let sides = Arc::new(Mutex::new(Sides::default()));
    let put = |sides: &mut Sides, side: usize, flags: (bool, bool), payload: &[u8]| {
        let frame = frame(number, sides, side, flags, payload);
        frames.lock().unwrap().push(frame);
    };
    {
        let mut sides = sides.lock().unwrap();
        put(&mut sides, 0, (true, false), b"");
        put(&mut sides, 1, (true, false), b"");
        put(&mut sides, 0, (false, false), b"");
    }
    for side in [0, 1] {
        let (mut from, mut to) = if side == 0 {
            (client.try_clone().unwrap(), server.try_clone().unwrap())
        } else {
            (server.try_clone().unwrap(), client.try_clone().unwrap())
        };
        let (sides, frames) = (Arc::clone(&sides), Arc::clone(frames));
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            loop {
                let length = from.read(&mut buffer).unwrap_or(0);
                let mut sides = sides.lock().unwrap();
                for part in buffer[..length].chunks(SEGMENT) {
                    let frame = frame(number, &mut sides, side, (false, false), part);
                    frames.lock().unwrap().push(frame);
                }
                if length == 0 {
                    let frame = frame(number, &mut sides, side, (false, true), b"");
                    frames.lock().unwrap().push(frame);
                    let _ = to.shutdown(std::net::Shutdown::Write);
                    return;
                }
                drop(sides);
                if to.write_all(&buffer[..length]).is_err() {
                    return;
                }
            }
        });
    }
}

fn frame(
    connection: u16,
    sides: &mut Sides,
    side: usize,
    (first, last): (bool, bool),
    payload: &[u8],
) -> Frame {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let client_port = 40_000 + connection;
    // Sequence numbers near their end, so that they begin anew.
    let start = u32::MAX - 2_000;
    let sequence = start.wrapping_add(sides.sent[side]);
    let received = start.wrapping_add(sides.sent[1 - side]);
    let ends = if side == 0 {
        (CLIENT, SERVER)
    } else {
        (SERVER, CLIENT)
    };
    let ports = if side == 0 {
        (client_port, SERVER_PORT)
    } else {
        (SERVER_PORT, client_port)
    };
    let mut packet = PacketBuilder::ethernet2([2; 6], [4; 6])
        .ipv4(ends.0, ends.1, 64)
        .tcp(ports.0, ports.1, sequence, 60_000);
    if first {
        packet = packet.syn();
    }
    if last {
        packet = packet.fin();
    }
    if !(first && side == 0) {
        packet = packet.ack(received);
    }
    let mut bytes = Vec::new();
    packet.write(&mut bytes, payload).unwrap();
    sides.sent[side] =
        sides.sent[side].wrapping_add(payload.len() as u32 + u32::from(first) + u32::from(last));
    Frame {
        at_us: now.as_micros() as u64,
        connection,
        side,
        bytes,
        is_empty: payload.is_empty(),
    }
}

/// The classic format.
pub(crate) fn pcap(frames: &[Frame]) -> Vec<u8> {
    let mut file = Vec::new();
    for number in [0xA1B2_C3D4_u32, 0x0004_0002, 0, 0, 262_144, 1] {
        file.extend(number.to_le_bytes());
    }
    for frame in frames {
        let length = frame.bytes.len() as u32;
        for number in [
            (frame.at_us / 1_000_000) as u32,
            (frame.at_us % 1_000_000) as u32,
            length,
            length,
        ] {
            file.extend(number.to_le_bytes());
        }
        file.extend(&frame.bytes);
    }
    file
}

/// The newer format.
pub(crate) fn pcapng(frames: &[Frame]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut block = |kind: u32, body: &[u8]| {
        let padded = body.len().next_multiple_of(4);
        let length = padded as u32 + 12;
        file.extend(kind.to_le_bytes());
        file.extend(length.to_le_bytes());
        file.extend(body);
        file.extend(vec![0; padded - body.len()]);
        file.extend(length.to_le_bytes());
    };
    let section = [
        0x1A2B_3C4D_u32.to_le_bytes(),
        1_u32.to_le_bytes(),
        [0xFF; 4],
        [0xFF; 4],
    ]
    .concat();
    block(0x0A0D_0D0A, &section);
    block(
        1,
        &[1_u32.to_le_bytes(), 262_144_u32.to_le_bytes()].concat(),
    );
    for frame in frames {
        let length = (frame.bytes.len() as u32).to_le_bytes();
        let time = [(frame.at_us >> 32) as u32, frame.at_us as u32].map(u32::to_le_bytes);
        let head = [0_u32.to_le_bytes(), time[0], time[1], length, length].concat();
        block(6, &[head, frame.bytes.clone()].concat());
    }
    file
}
