// The work: a copy for each target. What throws comes again from the topic of retries, a back-off later.
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.core.KafkaTemplate;

class Worker {
  private static final String[] TARGETS = {"search", "catalogue"};

  private final KafkaTemplate<String, byte[]> template;
  private final String application;
  private final long failEvery;

  Worker(KafkaTemplate<String, byte[]> template, @Value("${application}") String application,
      @Value("${fail-every}") long failEvery) {
    this.template = template;
    this.application = application;
    this.failEvery = failEvery;
  }

  @RetryableTopic(attempts = "3", backOff = @BackOff(delayString = "${backoff-ms}"), numPartitions = "${partitions}",
      replicationFactor = "1")
  @KafkaListener(topics = "${application}.requests", groupId = "${application}")
  void work(ConsumerRecord<String, byte[]> request) {
    if (fails(request)) throw new IllegalStateException("the first attempt fails");
    for (String target : TARGETS) {
      final ProducerRecord<String, byte[]> result =
          new ProducerRecord<>(application + ".output." + target, request.key(), request.value());
      for (Header header : request.headers())
        if (header.key().startsWith("reseq-")) result.headers().add(header);
      template.send(result);
    }
  }

  private boolean fails(ConsumerRecord<String, byte[]> request) {
    if (!request.topic().equals(application + ".requests") || !sequence(request).equals("1")) return false;
    return Long.parseLong(request.key().substring(request.key().indexOf('-') + 1)) % failEvery == 0;
  }

  private static String sequence(ConsumerRecord<String, byte[]> request) {
    return new String(request.headers().lastHeader("reseq-seq").value(), StandardCharsets.UTF_8);
  }
}
