// Files for `-text`: what Hadoop's codecs compress, SequenceFiles of every class that has a text, Avro data files of every type.
// usage: java Samples.java DIR
import java.io.*;
import java.nio.ByteBuffer;
import java.nio.file.*;
import java.util.*;
import org.apache.avro.*;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.*;
import org.apache.avro.util.Utf8;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.*;
import org.apache.hadoop.io.SequenceFile.CompressionType;
import org.apache.hadoop.io.compress.*;
import org.apache.hadoop.util.ReflectionUtils;

public class Samples {
  static final Configuration CONF = new Configuration();
  static Path path(String dir, String name) { return Paths.get(dir, name); }

  static void compressed(String dir, byte[] text) throws IOException {
    for (Class<? extends CompressionCodec> c : List.of(BZip2Codec.class, DefaultCodec.class, GzipCodec.class, Lz4Codec.class, SnappyCodec.class, ZStandardCodec.class)) {
      CompressionCodec codec = ReflectionUtils.newInstance(c, CONF);
      for (int size : new int[] {0, 1, 1000, text.length}) {
        Path file = path(dir, "text-" + size + codec.getDefaultExtension());
        try (OutputStream out = codec.createOutputStream(new FileOutputStream(file.toFile()))) { out.write(text, 0, size); }
        catch (Throwable e) { Files.deleteIfExists(file); System.err.println(c.getSimpleName() + ": " + e); break; }
      }
    }
    Files.write(path(dir, "plain"), text); Files.write(path(dir, "empty.gz"), new byte[0]); Files.write(path(dir, "one.bz2"), new byte[] {65});
    Files.write(path(dir, "SEA"), "SEA is no SequenceFile\n".getBytes()); Files.write(path(dir, "Ob.gz"), "Obstacle\n".getBytes());
    Files.write(path(dir, "cut.gz"), Arrays.copyOf(Files.readAllBytes(path(dir, "text-1000.gz")), 40));
    Files.write(path(dir, "wrong.gz"), "this is no gzip".getBytes()); Files.write(path(dir, "wrong.bz2"), "this is no bzip2".getBytes());
  }

  static void sequence(String dir, String name, Writable[] keys, Writable[] values, CompressionType type, CompressionCodec codec) throws IOException {
    SequenceFile.Metadata about = new SequenceFile.Metadata(); about.set(new Text("made by"), new Text("Samples"));
    try (SequenceFile.Writer writer = SequenceFile.createWriter(CONF, SequenceFile.Writer.file(new org.apache.hadoop.fs.Path("file://" + path(dir, name))),
        SequenceFile.Writer.keyClass(keys[0].getClass()), SequenceFile.Writer.valueClass(values[0].getClass()),
        SequenceFile.Writer.compression(type, codec), SequenceFile.Writer.metadata(about))) {
      for (int round = 0; round < 300; round++) for (int i = 0; i < keys.length; i++) writer.append(keys[i], values[i]);
    }
  }

  static Writable[] all(Class<? extends Writable> c) {
    if (c == Text.class) return new Writable[] {new Text(""), new Text("text"), new Text("\u00e4\u20ac\ud83d\ude00\t\n"), new Text("x".repeat(200))};
    if (c == IntWritable.class) return new Writable[] {new IntWritable(0), new IntWritable(-1), new IntWritable(Integer.MAX_VALUE), new IntWritable(7)};
    if (c == LongWritable.class) return new Writable[] {new LongWritable(0), new LongWritable(Long.MIN_VALUE), new LongWritable(-129), new LongWritable(1L << 40)};
    if (c == VLongWritable.class) return new Writable[] {new VLongWritable(0), new VLongWritable(Long.MIN_VALUE), new VLongWritable(-129), new VLongWritable(1L << 40)};
    if (c == VIntWritable.class) return new Writable[] {new VIntWritable(0), new VIntWritable(-113), new VIntWritable(128), new VIntWritable(Integer.MIN_VALUE)};
    if (c == ShortWritable.class) return new Writable[] {new ShortWritable((short) 0), new ShortWritable((short) -1), new ShortWritable((short) 300), new ShortWritable((short) 7)};
    if (c == ByteWritable.class) return new Writable[] {new ByteWritable((byte) 0), new ByteWritable((byte) -1), new ByteWritable((byte) 127), new ByteWritable((byte) 7)};
    if (c == BooleanWritable.class) return new Writable[] {new BooleanWritable(true), new BooleanWritable(false), new BooleanWritable(true), new BooleanWritable(false)};
    if (c == FloatWritable.class) return new Writable[] {new FloatWritable(0.1f), new FloatWritable(-0f), new FloatWritable(1e10f), new FloatWritable(Float.NaN)};
    if (c == DoubleWritable.class) return new Writable[] {new DoubleWritable(1.5), new DoubleWritable(1e-5), new DoubleWritable(123456789.125), new DoubleWritable(Double.NEGATIVE_INFINITY)};
    if (c == BytesWritable.class) return new Writable[] {new BytesWritable(), new BytesWritable(new byte[] {0, -1, 16}), new BytesWritable("bytes".getBytes()), new BytesWritable(new byte[40])};
    return new Writable[] {NullWritable.get(), NullWritable.get(), NullWritable.get(), NullWritable.get()};
  }

  static void sequences(String dir) throws IOException {
    for (Class<? extends Writable> c : List.of(Text.class, IntWritable.class, LongWritable.class, VLongWritable.class, VIntWritable.class, ShortWritable.class,
        ByteWritable.class, BooleanWritable.class, FloatWritable.class, DoubleWritable.class, BytesWritable.class, NullWritable.class)) {
      sequence(dir, "keys-" + c.getSimpleName(), all(c), all(Text.class), CompressionType.NONE, null);
      sequence(dir, "values-" + c.getSimpleName(), all(LongWritable.class), all(c), CompressionType.BLOCK, ReflectionUtils.newInstance(DefaultCodec.class, CONF));
    }
    for (Class<? extends CompressionCodec> c : List.of(DefaultCodec.class, BZip2Codec.class, SnappyCodec.class, Lz4Codec.class))
      for (CompressionType type : List.of(CompressionType.RECORD, CompressionType.BLOCK)) {
        String name = type + "-" + c.getSimpleName();
        try { sequence(dir, name, all(Text.class), all(BytesWritable.class), type, ReflectionUtils.newInstance(c, CONF)); }
        catch (Throwable e) { Files.deleteIfExists(path(dir, name)); System.err.println(name + ": " + e); }
      }
    byte[] whole = Files.readAllBytes(path(dir, "keys-Text"));
    Files.write(path(dir, "keys-cut"), Arrays.copyOf(whole, 1000));
  }

  static final String SCHEMA = "{\"type\":\"record\",\"name\":\"All\",\"namespace\":\"n.s\",\"fields\":["
    + "{\"name\":\"i\",\"type\":\"int\"},{\"name\":\"l\",\"type\":\"long\"},{\"name\":\"f\",\"type\":\"float\"},{\"name\":\"d\",\"type\":\"double\"},"
    + "{\"name\":\"b\",\"type\":\"boolean\"},{\"name\":\"s\",\"type\":\"string\"},{\"name\":\"y\",\"type\":\"bytes\"},"
    + "{\"name\":\"x\",\"type\":{\"type\":\"fixed\",\"name\":\"F2\",\"size\":2}},{\"name\":\"e\",\"type\":{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\"]}},"
    + "{\"name\":\"a\",\"type\":{\"type\":\"array\",\"items\":\"E\"}},{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":\"long\"}},"
    + "{\"name\":\"t\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}},"
    + "{\"name\":\"u\",\"type\":[\"null\",\"string\",\"All\",{\"type\":\"array\",\"items\":\"int\"},\"F2\",\"bytes\"]}]}";

  static GenericRecord record(Schema schema, int n, Object u) {
    GenericRecord r = new GenericData.Record(schema);
    double[] doubles = {0, -0.0, 1.5, 1e-5, 1e21, Double.NaN, Double.POSITIVE_INFINITY, 1234567.25, 100};
    r.put("i", n - 3); r.put("l", (1L << n) * (n % 2 == 0 ? 1 : -1)); r.put("f", (float) doubles[n % doubles.length]); r.put("d", doubles[n % doubles.length]);
    r.put("b", n % 2 == 0); r.put("s", new Utf8("s" + n + " \"\\/\n\r\t\b\f\u0001\u001f\u007f\u00e4\u20ac\ud83d\ude00")); r.put("y", ByteBuffer.wrap(new byte[] {0, (byte) n, (byte) 200, 34, 92}));
    r.put("x", new GenericData.Fixed(schema.getField("x").schema(), new byte[] {(byte) n, (byte) -n}));
    Schema e = schema.getField("e").schema(); r.put("e", new GenericData.EnumSymbol(e, n % 2 == 0 ? "A" : "B"));
    List<Object> list = new ArrayList<>(); for (int i = 0; i < n % 4; i++) list.add(new GenericData.EnumSymbol(e, "B")); r.put("a", list);
    r.put("m", n % 3 == 0 ? Map.of() : Map.of(new Utf8("key " + n), (long) n)); r.put("t", 1700000000000L + n); r.put("u", u);
    return r;
  }

  static void avro(String dir) throws IOException {
    Schema schema = new Schema.Parser().parse(SCHEMA);
    for (String codec : List.of("null", "deflate", "snappy", "bzip2")) for (int count : new int[] {0, 1, 500}) {
      try (DataFileWriter<GenericRecord> writer = new DataFileWriter<>(new GenericDatumWriter<GenericRecord>(schema))) {
        writer.setCodec(CodecFactory.fromString(codec)); writer.setSyncInterval(4000); writer.create(schema, path(dir, "avro-" + codec + "-" + count).toFile());
        for (int n = 0; n < count; n++) {
          Object[] u = {null, new Utf8("in union"), record(schema, n % 60, null), List.of(1, 2, n), new GenericData.Fixed(schema.getField("x").schema(), new byte[] {1, 2}), ByteBuffer.wrap(new byte[] {(byte) 255})};
          writer.append(record(schema, n % 60, u[n % u.length]));
        }
      }
    }
    Schema text = new Schema.Parser().parse("\"string\"");
    try (DataFileWriter<Object> writer = new DataFileWriter<>(new GenericDatumWriter<Object>(text))) {
      writer.create(text, path(dir, "avro-strings").toFile()); writer.append(new Utf8("one")); writer.append(new Utf8("two"));
    }
    Files.write(path(dir, "avro-cut"), Arrays.copyOf(Files.readAllBytes(path(dir, "avro-null-500")), 20000));
  }

  public static void main(String[] args) throws Exception {
    StringBuilder text = new StringBuilder(); Random random = new Random(1);
    for (int i = 0; i < 60000; i++) text.append("line ").append(i).append(' ').append(random.nextInt()).append('\n');
    compressed(args[0], text.toString().getBytes()); sequences(args[0]); avro(args[0]);
  }
}
