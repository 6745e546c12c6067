// A client of the resequencer with Kafka's own library: producer, worker and sink of one application.
//   java -cp 'FOLDER-OF-JARS/*' Client.java BROKERS APPLICATION STEPS
// Does the steps of the file STEPS in turn, and prints every record that it reads, then what its index holds:
//   send TOPIC[/PARTITION] KEY PAYLOAD [NAME=VALUE]...   TOPIC without the name of the application
//   read TOPIC ...                                       the next record of the topic
//   answer TARGET PAYLOAD                                a result for the record of work that was read last
// Words contain no blanks; the payloads (null) and (empty) mean just that.
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public class Client {
  static final Duration LIMIT = Duration.ofSeconds(60);

  final String brokers;
  final String application;
  final KafkaProducer<String, byte[]> producer;
  final Map<String, KafkaConsumer<String, byte[]>> consumers = new HashMap<>();
  final Map<String, Queue<ConsumerRecord<String, byte[]>>> fetched = new HashMap<>();
  final Map<String, byte[]> index = new TreeMap<>();
  final Map<String, Long> versions = new HashMap<>();
  ConsumerRecord<String, byte[]> work;

  Client(String brokers, String application) {
    this.brokers = brokers;
    this.application = application;
    this.producer = openProducer(brokers);
  }

  static KafkaProducer<String, byte[]> openProducer(String brokers) {
    Map<String, Object> settings = Map.of("bootstrap.servers", brokers);
    return new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer());
  }

  static KafkaConsumer<String, byte[]> openConsumer(String brokers, String group, String topic) {
    Map<String, Object> settings = Map.of(
        "bootstrap.servers", brokers,
        "group.id", group,
        "isolation.level", "read_committed",
        "auto.offset.reset", "earliest",
        "enable.auto.commit", "false");
    var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer());
    consumer.subscribe(List.of(topic));
    return consumer;
  }

  // All reseq-* headers of the record of work, known or not, and what the result is for.
  static List<Header> headersOfResult(ConsumerRecord<?, ?> record, String target) {
    List<Header> headers = new ArrayList<>();
    for (Header header : record.headers()) {
      if (header.key().startsWith("reseq-")) headers.add(header);
    }
    headers.add(new RecordHeader("reseq-command", "sequence".getBytes(UTF_8)));
    headers.add(new RecordHeader("reseq-target", target.getBytes(UTF_8)));
    return headers;
  }

  // A sink takes what has a higher version than it holds. It remembers the version of what was deleted, too.
  void take(ConsumerRecord<String, byte[]> record) {
    long version = Long.parseLong(new String(record.headers().lastHeader("reseq-version").value(), UTF_8));
    if (version <= versions.getOrDefault(record.key(), 0L)) return;
    versions.put(record.key(), version);
    Header op = record.headers().lastHeader("reseq-op");
    boolean deleted = op != null && new String(op.value(), UTF_8).equals("delete");
    if (record.value() == null || deleted) index.remove(record.key());
    else index.put(record.key(), record.value());
  }

  void send(String place, String key, byte[] payload, List<Header> headers) throws Exception {
    String[] parts = place.split("/");
    Integer partition = parts.length > 1 ? Integer.valueOf(parts[1]) : null;
    producer.send(new ProducerRecord<>(application + "." + parts[0], partition, key, payload, headers)).get();
  }

  ConsumerRecord<String, byte[]> next(String topic) {
    String name = application + "." + topic;
    var consumer = consumers.computeIfAbsent(topic, t -> openConsumer(brokers, name + ".readers", name));
    var waiting = fetched.computeIfAbsent(topic, t -> new ArrayDeque<>());
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (waiting.isEmpty() && System.nanoTime() < deadline) consumer.poll(LIMIT).forEach(waiting::add);
    if (waiting.isEmpty()) throw new IllegalStateException("no record of " + topic);
    return waiting.remove();
  }

  String read(String topic) {
    ConsumerRecord<String, byte[]> record = next(topic);
    if (topic.equals("output.search")) take(record);
    if (topic.equals("work")) work = record; // committed when its result is acknowledged
    else commit(topic, record);
    StringBuilder line = new StringBuilder("read " + topic + " " + keyOf(record) + " " + textOf(record.value()));
    for (Header header : record.headers()) {
      line.append(' ').append(header.key()).append('=').append(new String(header.value(), UTF_8));
    }
    return line.toString();
  }

  void commit(String topic, ConsumerRecord<String, byte[]> record) {
    var next = new OffsetAndMetadata(record.offset() + 1);
    consumers.get(topic).commitSync(Map.of(new TopicPartition(record.topic(), record.partition()), next));
  }

  void answer(String target, byte[] payload) throws Exception {
    send("commands", work.key(), payload, headersOfResult(work, target));
    commit("work", work);
  }

  static String keyOf(ConsumerRecord<String, ?> record) {
    if (record.key() == null) return "(null)";
    return record.key().isEmpty() ? "(empty)" : record.key();
  }

  static String textOf(byte[] payload) {
    if (payload == null) return "(null)";
    return payload.length == 0 ? "(empty)" : new String(payload, UTF_8);
  }

  static byte[] payloadOf(String text) {
    if (text.equals("(null)")) return null;
    return text.equals("(empty)") ? new byte[0] : text.getBytes(UTF_8);
  }

  static Header headerOf(String word) {
    String[] parts = word.split("=", 2);
    return new RecordHeader(parts[0], parts[1].getBytes(UTF_8));
  }

  void step(String[] words) throws Exception {
    switch (words[0]) {
      case "send" -> send(words[1], words[2], payloadOf(words[3]),
          Arrays.stream(words).skip(4).map(Client::headerOf).toList());
      case "answer" -> answer(words[1], payloadOf(words[2]));
      case "read" -> System.out.println(read(words[1]));
      default -> { }
    }
  }

  public static void main(String[] arguments) throws Exception {
    Client client = new Client(arguments[0], arguments[1]);
    for (String line : Files.readAllLines(Path.of(arguments[2]))) client.step(line.trim().split(" +"));
    client.index.forEach((key, payload) -> System.out.println("index " + key + " " + textOf(payload)));
    client.consumers.values().forEach(KafkaConsumer::close);
    client.producer.close();
  }
}
