//! Checks that NumPy's files are read and that all others are refused, with the place of the error.

use super::*;

/// `[[0, 1, 2], [3, 4, 100]]`, as NumPy 2.4.6 wrote it: a name and the bytes.
const WRITTEN: &[(&str, &[u8])] = &[
    (
        "<f8",
        b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }                                                          \n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x00@\x00\x00\x00\x00\x00\x00\x08@\x00\x00\x00\x00\x00\x00\x10@\x00\x00\x00\x00\x00\x00Y@",
    ),
    (
        ">f8",
        b"\x93NUMPY\x01\x00v\x00{'descr': '>f8', 'fortran_order': False, 'shape': (2, 3), }                                                          \n\x00\x00\x00\x00\x00\x00\x00\x00?\xf0\x00\x00\x00\x00\x00\x00@\x00\x00\x00\x00\x00\x00\x00@\x08\x00\x00\x00\x00\x00\x00@\x10\x00\x00\x00\x00\x00\x00@Y\x00\x00\x00\x00\x00\x00",
    ),
    (
        "<f4",
        b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }                                                          \n\x00\x00\x00\x00\x00\x00\x80?\x00\x00\x00@\x00\x00@@\x00\x00\x80@\x00\x00\xc8B",
    ),
    (
        ">f4",
        b"\x93NUMPY\x01\x00v\x00{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }                                                          \n\x00\x00\x00\x00?\x80\x00\x00@\x00\x00\x00@@\x00\x00@\x80\x00\x00B\xc8\x00\x00",
    ),
    (
        "<i8",
        b"\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }                                                          \n\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00d\x00\x00\x00\x00\x00\x00\x00",
    ),
    (
        ">i4",
        b"\x93NUMPY\x01\x00v\x00{'descr': '>i4', 'fortran_order': False, 'shape': (2, 3), }                                                          \n\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00d",
    ),
    (
        "<i2",
        b"\x93NUMPY\x01\x00v\x00{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }                                                          \n\x00\x00\x01\x00\x02\x00\x03\x00\x04\x00d\x00",
    ),
    (
        "|i1",
        b"\x93NUMPY\x01\x00v\x00{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3), }                                                          \n\x00\x01\x02\x03\x04d",
    ),
    (
        "<u8",
        b"\x93NUMPY\x01\x00v\x00{'descr': '<u8', 'fortran_order': False, 'shape': (2, 3), }                                                          \n\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00d\x00\x00\x00\x00\x00\x00\x00",
    ),
    (
        ">u4",
        b"\x93NUMPY\x01\x00v\x00{'descr': '>u4', 'fortran_order': False, 'shape': (2, 3), }                                                          \n\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00d",
    ),
    (
        ">u2",
        b"\x93NUMPY\x01\x00v\x00{'descr': '>u2', 'fortran_order': False, 'shape': (2, 3), }                                                          \n\x00\x00\x00\x01\x00\x02\x00\x03\x00\x04\x00d",
    ),
    (
        "|u1",
        b"\x93NUMPY\x01\x00v\x00{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }                                                          \n\x00\x01\x02\x03\x04d",
    ),
    (
        "Fortran order",
        b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }                                                           \n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x08@\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x10@\x00\x00\x00\x00\x00\x00\x00@\x00\x00\x00\x00\x00\x00Y@",
    ),
    (
        "version 2",
        b"\x93NUMPY\x02\x00t\x00\x00\x00{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }                                                        \n\x00\x00\x01\x00\x02\x00\x03\x00\x04\x00d\x00",
    ),
    (
        "version 3",
        b"\x93NUMPY\x03\x00t\x00\x00\x00{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }                                                        \n\x00\x00\x01\x00\x02\x00\x03\x00\x04\x00d\x00",
    ),
];

/// `arange(12).reshape(2, 3, 2)` in Fortran order.
const THREE_AXES: &[u8] = b"\x93NUMPY\x01\x00v\x00{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2), }                                                        \n\x00\x06\x02\x08\x04\n\x01\x07\x03\x09\x05\x0b";

/// `[False, True]`.
const FLAGS: &[u8] = b"\x93NUMPY\x01\x00v\x00{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }                                                            \n\x00\x01";

/// A single number, 7.
const SCALAR: &[u8] = b"\x93NUMPY\x01\x00v\x00{'descr': '|u1', 'fortran_order': False, 'shape': (), }                                                              \n\x07";

/// A file of version 1 with a header and data.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn refused(bytes: &[u8]) -> String {
    read_from(bytes).unwrap_err().to_string()
}

#[test]
fn arrays_of_every_type_and_order_are_read() {
    for (name, bytes) in WRITTEN {
        let (shape, entries) = read_from(*bytes).unwrap();
        assert_eq!(shape, [2, 3], "{name}");
        assert_eq!(entries, [0.0, 1.0, 2.0, 3.0, 4.0, 100.0], "{name}");
    }
    let (shape, entries) = read_from(THREE_AXES).unwrap();
    assert_eq!(shape, [2, 3, 2]);
    assert!(entries.iter().enumerate().all(|(k, &x)| x == k as f64));
    assert_eq!(read_from(FLAGS).unwrap(), (vec![2], vec![0.0, 1.0]));
    assert_eq!(read_from(SCALAR).unwrap(), (vec![], vec![7.0]));
}

#[test]
fn every_cut_is_refused() {
    let (_, whole) = WRITTEN[0];
    for length in 0..whole.len() {
        let message = refused(&whole[..length]);
        let expected = match length {
            0..8 => "not a NumPy file",
            8..128 => "ends within its header",
            _ => "ends before its array does",
        };
        assert!(message.contains(expected), "{length}: {message}");
    }
    assert!(refused(&[whole, &[0]].concat()).contains("continues after the 48 bytes"));
}

#[test]
fn headers_of_another_form_are_refused_at_once() {
    let right = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1), }\n";
    assert_eq!(read_from(&file(right, &[3, 4])[..]).unwrap().1, [3.0, 4.0]);
    for (old, new, words) in [
        (
            "'|u1'",
            "'<c16'",
            "its elements are '<c16', not real numbers",
        ),
        ("'|u1'", "'<f16'", "not real numbers"),
        ("'|u1'", "[('a', '<f8')]", "where a string is needed"),
        ("'|u1'", "'|u\\x31'", "without escapes"),
        ("'|u1'", "'|u1", "where"),
        ("False", "0", "where True or False is needed"),
        ("(2, 1)", "2", "where ( is needed"),
        ("(2, 1)", "(2)", "after the only axis"),
        ("(2, 1)", "(-2, 1)", "an integer >= 0"),
        ("(2, 1)", "(2, 1.0)", "where , or ) is needed"),
        ("(2, 1)", "(99999999999999999999, 1)", "an integer"),
        ("(2, 1)", "(0, 1)", "the array is empty"),
        ("(2, 1)", "(4294967295, 4294967295)", "at most 268435456"),
        ("(2, 1)", "(1000, 1000)", "2 of 1000000 bytes"),
        ("'shape'", "'size'", "each once"),
        ("'shape': (2, 1)", "'descr': '|u1'", "each once"),
        ("'shape': (2, 1), ", "", "no key 'shape'"),
        (", }", "} 1", "where the end is needed"),
    ] {
        let header = right.replace(old, new);
        let message = refused(&file(&header, &[3, 4]));
        assert!(message.contains(words), "{header}: {message}");
    }
    // Nested brackets took a general parser of Python literals exponential time.
    let deep = right.replace("(2, 1)", &"(".repeat(9000));
    assert!(refused(&file(&deep, &[])).contains("an integer >= 0"));
    let many = right.replace("(2, 1)", &format!("({})", "1, ".repeat(3000)));
    assert!(refused(&file(&many, &[0])).contains("64 axes"));
    assert!(refused(&file(&" ".repeat(20_000), &[])).contains("20000 bytes"));
    assert!(refused(b"\x93NUMPY\x04\x00\x00\x00").contains("version is 4"));
    assert!(refused(b"\x93NUMPY\x02\x00\xff\xff\xff\xff").contains("4294967295"));
}

#[test]
fn numbers_that_are_not_finite_are_named_by_place() {
    let header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }";
    let data: Vec<u8> = [0.0_f32, f32::NAN, 1.0, 1.0]
        .into_iter()
        .flat_map(f32::to_le_bytes)
        .collect();
    assert_eq!(
        refused(&file(header, &data)),
        "row 1, column 0 is NaN, not a finite number"
    );
}
