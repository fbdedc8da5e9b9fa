//! Base64 as a KMS writes and reads it: strict, as what it holds are keys. Source: `KMSUtil.java`, Hadoop 3.5.0; RFC 4648.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// In the alphabet of URLs, without padding.
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        let sextets = (0..=chunk.len()).map(|i| (bits >> (18 - 6 * i)) as usize & 63);
        out.extend(sextets.map(|sextet| char::from(LETTERS[sextet])));
    }
    out
}

/// In either alphabet, padded or not. `None`: a letter of neither, or a length, padding or last bits that no encoder writes.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let letters = text.trim_end_matches('=');
    let padding = text.len() - letters.len();
    if letters.len() % 4 == 1 || padding > 2 || padding > 0 && !text.len().is_multiple_of(4) {
        return None;
    }
    let mut out = Vec::with_capacity(letters.len() * 3 / 4);
    let (mut bits, mut count) = (0u32, 0);
    for letter in letters.bytes() {
        let letter = match letter {
            b'+' => b'-',
            b'/' => b'_',
            other => other,
        };
        bits = bits << 6 | LETTERS.iter().position(|known| *known == letter)? as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    (bits == 0).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for len in 0..50u8 {
            let bytes: Vec<u8> = (0..len).map(|i| i.wrapping_mul(0x9d).wrapping_add(len)).collect();
            assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
        assert_eq!(encode(&[0xff, 0xef]), "_-8");
        for text in ["_-8", "/+8", "_-8="] {
            assert_eq!(decode(text), Some(vec![0xff, 0xef]), "{text}");
        }
    }

    #[test]
    fn what_is_none() {
        for text in ["_", "_-8==", "_-8!", "_ -8", "_-9", "_-8=A", "====", "AAAAA", "\u{e4}\u{e4}"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
