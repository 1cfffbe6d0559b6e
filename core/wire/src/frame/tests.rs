use proptest::prelude::*;

use super::*;

/// All frames of a stream that arrives in pieces cut at `cuts`.
fn decode(stream: &[u8], cuts: &[usize]) -> Vec<Vec<u8>> {
    let mut decoder = Decoder::new();
    let mut frames = vec![];
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (stream.len() + 1)).collect();
    cuts.extend([0, stream.len()]);
    cuts.sort_unstable();
    for piece in cuts.windows(2) {
        decoder.push(&stream[piece[0]..piece[1]]);
        while let Some(frame) = decoder.next_frame().unwrap() {
            frames.push(frame.to_vec());
        }
    }
    assert!(!decoder.is_mid_frame());
    frames
}

proptest! {
    #[test]
    fn any_split_decodes_alike(
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..6),
        cuts in prop::collection::vec(any::<usize>(), 0..20),
    ) {
        let stream: Vec<u8> = payloads.iter().flat_map(|payload| encode(payload).unwrap()).collect();
        prop_assert_eq!(decode(&stream, &cuts), payloads);
    }
}

#[test]
fn the_length_stands_first_with_its_little_end() {
    assert_eq!(encode(b"{}").unwrap(), b"\x02\0\0\0{}");
}

#[test]
fn an_announced_length_over_the_limit_is_refused_and_allocates_nothing() {
    let too_long = u32::try_from(MAX_PAYLOAD_BYTES + 1).unwrap();
    let mut decoder = Decoder::new();
    decoder.push(&too_long.to_le_bytes());
    let refused = FrameTooLong { bytes: MAX_PAYLOAD_BYTES + 1 };
    assert_eq!(decoder.next_frame(), Err(refused));
    assert_eq!(decoder.next_frame(), Err(refused));
    assert!(decoder.buffer.capacity() < 64);
}

#[test]
fn the_longest_length_is_only_waited_for() {
    let mut decoder = Decoder::new();
    decoder.push(&u32::try_from(MAX_PAYLOAD_BYTES).unwrap().to_le_bytes());
    decoder.push(b"half");
    assert_eq!(decoder.next_frame(), Ok(None));
    assert!(decoder.is_mid_frame());
    assert!(decoder.buffer.capacity() < 64);
}

#[test]
fn room_of_a_large_frame_is_given_back() {
    let mut decoder = Decoder::new();
    decoder.push(&encode(&vec![b' '; 4 * KEPT_BYTES]).unwrap());
    assert!(decoder.next_frame().unwrap().is_some());
    decoder.push(b"");
    assert!(decoder.buffer.capacity() <= KEPT_BYTES);
}
