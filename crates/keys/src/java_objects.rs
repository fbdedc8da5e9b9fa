//! Reads what Java's `ObjectOutputStream` writes, as far as key stores hold it.
//! Source: Java Object Serialization Specification, chapter 6.

use crate::key_store::KeyStoreError;
use std::rc::Rc;

/// Objects in objects, classes below classes.
const DEPTH_MAX: u32 = 32;
/// Objects that a stream may number; those of a key are about ten.
const KNOWN_MAX: usize = 1000;
/// This class writes its data by itself, without the fields that its description lists.
const OWN_FORMAT: &str = "$KeyMetadata";

const WRITE_METHOD: u8 = 1;
const SERIALIZABLE: u8 = 2;

/// A value in the stream. Not to be printed: keys are values.
#[derive(Clone)]
pub enum Value {
    Null,
    Text(Rc<str>),
    Bytes(Rc<[u8]>),
    Object(Rc<Object>),
    /// Of a primitive type; none is looked at.
    Other,
}

/// An object, with the fields of its superclasses first.
pub struct Object {
    pub class: Rc<str>,
    pub fields: Vec<(Rc<str>, Value)>,
    /// What its classes wrote besides their fields.
    pub data: Vec<u8>,
}

impl Object {
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.fields.iter().find(|(field, _)| **field == *name).and_then(|(_, value)| match value {
            Value::Bytes(bytes) => Some(&**bytes),
            _ => None,
        })
    }
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| **field == *name).and_then(|(_, value)| match value {
            Value::Text(text) => Some(&**text),
            _ => None,
        })
    }
}

struct Class {
    name: Rc<str>,
    flags: u8,
    fields: Vec<(u8, Rc<str>)>,
    above: Option<Rc<Class>>,
}

#[derive(Clone)]
enum Known {
    Class(Rc<Class>),
    Value(Value),
}

/// Takes fixed-size pieces off a slice.
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], KeyStoreError> {
        let (head, rest) = self.0.split_at_checked(len).ok_or(KeyStoreError::Truncated)?;
        self.0 = rest;
        Ok(head)
    }
    pub fn u8(&mut self) -> Result<u8, KeyStoreError> {
        Ok(self.take(1)?[0])
    }
    pub fn u16(&mut self) -> Result<u16, KeyStoreError> {
        Ok(u16::from_be_bytes(self.take(2)?.try_into().map_err(|_| KeyStoreError::Truncated)?))
    }
    pub fn u32(&mut self) -> Result<u32, KeyStoreError> {
        Ok(u32::from_be_bytes(self.take(4)?.try_into().map_err(|_| KeyStoreError::Truncated)?))
    }
    /// A string behind its length; its letters are UTF-8 but for NUL and surrogates, which names of keys do not have.
    pub fn utf(&mut self) -> Result<String, KeyStoreError> {
        let len = self.u16()?;
        String::from_utf8(self.take(usize::from(len))?.to_vec()).map_err(|_| KeyStoreError::Malformed("a string"))
    }
}

struct Reader<'a, 'b> {
    input: &'b mut Input<'a>,
    /// In the order in which the stream numbers them.
    known: Vec<Known>,
    depth: u32,
}

/// The object at the head of `input`, which is left behind it.
///
/// # Errors
/// It is cut off, or holds what key stores do not.
pub fn read_object(input: &mut Input<'_>) -> Result<Rc<Object>, KeyStoreError> {
    if input.u32()? != 0xaced_0005 {
        return Err(KeyStoreError::Malformed("the magic number of an object"));
    }
    match (Reader { input, known: Vec::new(), depth: 0 }).value()? {
        Value::Object(object) => Ok(object),
        _ => Err(KeyStoreError::Malformed("an object")),
    }
}

impl Reader<'_, '_> {
    fn value(&mut self) -> Result<Value, KeyStoreError> {
        let tag = self.input.u8()?;
        self.tagged(tag)
    }

    fn tagged(&mut self, tag: u8) -> Result<Value, KeyStoreError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(KeyStoreError::Malformed("the depth of an object"));
        }
        let value = match tag {
            0x70 => Value::Null,
            0x71 => match self.reference()? {
                Known::Value(value) => value,
                Known::Class(_) => return Err(KeyStoreError::Malformed("a reference")),
            },
            0x73 => self.object()?,
            0x74 => {
                let text = Value::Text(self.input.utf()?.into());
                self.remember(Known::Value(text.clone()))?;
                text
            }
            0x75 => self.array()?,
            _ => return Err(KeyStoreError::Malformed("the kind of a value")),
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Its number.
    fn remember(&mut self, known: Known) -> Result<usize, KeyStoreError> {
        if self.known.len() >= KNOWN_MAX {
            return Err(KeyStoreError::Malformed("the number of objects"));
        }
        self.known.push(known);
        Ok(self.known.len() - 1)
    }

    fn reference(&mut self) -> Result<Known, KeyStoreError> {
        let at = self.input.u32()?.wrapping_sub(0x7e_0000);
        self.known.get(at as usize).cloned().ok_or(KeyStoreError::Malformed("a reference"))
    }

    fn class(&mut self) -> Result<Option<Rc<Class>>, KeyStoreError> {
        match self.input.u8()? {
            0x70 => Ok(None),
            0x71 => match self.reference()? {
                Known::Class(class) => Ok(Some(class)),
                Known::Value(_) => Err(KeyStoreError::Malformed("a class")),
            },
            0x72 => self.new_class().map(Some),
            _ => Err(KeyStoreError::Malformed("a class")),
        }
    }

    fn new_class(&mut self) -> Result<Rc<Class>, KeyStoreError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(KeyStoreError::Malformed("the depth of a class"));
        }
        let name: Rc<str> = self.input.utf()?.into();
        self.input.take(8)?;
        // Its number comes before those of the names of its fields' types; nothing refers to it before it is complete.
        let at = self.remember(Known::Value(Value::Null))?;
        let flags = self.input.u8()?;
        let mut fields = Vec::new();
        for _ in 0..self.input.u16()? {
            let kind = self.input.u8()?;
            fields.push((kind, self.input.utf()?.into()));
            if matches!(kind, b'L' | b'[') {
                self.value()?;
            }
        }
        self.annotation()?;
        let above = self.class()?;
        let class = Rc::new(Class { name, flags, fields, above });
        self.known[at] = Known::Class(class.clone());
        self.depth -= 1;
        Ok(class)
    }

    fn object(&mut self) -> Result<Value, KeyStoreError> {
        let class = self.class()?.ok_or(KeyStoreError::Malformed("a class"))?;
        let at = self.remember(Known::Value(Value::Null))?;
        let mut chain = vec![class.clone()];
        while let Some(above) = chain.last().and_then(|class| class.above.clone()) {
            chain.push(above);
        }
        let mut object = Object { class: class.name.clone(), fields: Vec::new(), data: Vec::new() };
        for class in chain.iter().rev().filter(|class| class.flags & SERIALIZABLE != 0) {
            if !class.name.ends_with(OWN_FORMAT) {
                for (kind, name) in &class.fields {
                    let value = self.field(*kind)?;
                    object.fields.push((name.clone(), value));
                }
            }
            if class.flags & WRITE_METHOD != 0 {
                object.data.extend(self.annotation()?);
            }
        }
        let value = Value::Object(Rc::new(object));
        self.known[at] = Known::Value(value.clone());
        Ok(value)
    }

    fn field(&mut self, kind: u8) -> Result<Value, KeyStoreError> {
        let len = match kind {
            b'L' | b'[' => return self.value(),
            b'B' | b'Z' => 1,
            b'C' | b'S' => 2,
            b'I' | b'F' => 4,
            b'J' | b'D' => 8,
            _ => return Err(KeyStoreError::Malformed("the type of a field")),
        };
        self.input.take(len)?;
        Ok(Value::Other)
    }

    fn array(&mut self) -> Result<Value, KeyStoreError> {
        let class = self.class()?.ok_or(KeyStoreError::Malformed("a class"))?;
        if *class.name != *"[B" {
            return Err(KeyStoreError::Malformed("an array"));
        }
        let at = self.remember(Known::Value(Value::Null))?;
        let len = self.input.u32()?;
        let value = Value::Bytes(self.input.take(len as usize)?.into());
        self.known[at] = Known::Value(value.clone());
        Ok(value)
    }

    /// Data and values up to the end mark; the data.
    fn annotation(&mut self) -> Result<Vec<u8>, KeyStoreError> {
        let mut data = Vec::new();
        loop {
            let len = match self.input.u8()? {
                0x78 => return Ok(data),
                0x77 => usize::from(self.input.u8()?),
                0x7a => self.input.u32()? as usize,
                tag => {
                    self.tagged(tag)?;
                    continue;
                }
            };
            data.extend_from_slice(self.input.take(len)?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An object whose class writes `texts` strings besides its (no) fields.
    fn object_with(texts: usize) -> Vec<u8> {
        let class = [0x72, 0, 1, b'C', 0, 0, 0, 0, 0, 0, 0, 0, WRITE_METHOD | SERIALIZABLE, 0, 0, 0x78, 0x70];
        let mut stream = vec![0xac, 0xed, 0, 5, 0x73];
        stream.extend(class);
        for _ in 0..texts {
            stream.extend([0x74, 0, 1, b'a']);
        }
        stream.push(0x78);
        stream
    }

    #[test]
    fn the_number_of_objects_is_bounded() {
        let read = |texts| read_object(&mut Input(&object_with(texts))).map(|object| object.class.to_string());
        // The class and the object are two.
        assert_eq!(read(KNOWN_MAX - 2).as_deref(), Ok("C"));
        assert_eq!(read(KNOWN_MAX - 1), Err(KeyStoreError::Malformed("the number of objects")));
    }
}
