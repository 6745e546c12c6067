// Spring Integration's resequencer: a group of messages for each document, in a store in memory. Each message looks at
// all that its document keeps, so a document that keeps many costs their square; no option of it changes that. Groups
// stay when they are empty, since they know what was released last.
//
// What is kept is in memory only, and was committed: a kill loses it, and what the producer had not sent.
//
// Thread rule: any thread may hand over; it writes what has come into order, holding the lock of its document. What
// timed out is written by the scheduler's thread.
import java.util.Map;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.integration.IntegrationMessageHeaderAccessor;
import org.springframework.integration.aggregator.ResequencingMessageGroupProcessor;
import org.springframework.integration.aggregator.ResequencingMessageHandler;
import org.springframework.integration.channel.FixedSubscriberChannel;
import org.springframework.integration.config.EnableIntegration;
import org.springframework.integration.expression.ValueExpression;
import org.springframework.integration.store.SimpleMessageStore;
import org.springframework.messaging.support.GenericMessage;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

final class SpringResequencer implements Resequencer {
  @EnableIntegration
  static class Configured {}

  private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
  private final ResequencingMessageHandler handler;

  SpringResequencer(String target, Arguments arguments, Outputs outputs) {
    context.register(Configured.class);
    context.registerBean(ResequencingMessageHandler.class, () -> handler(target, arguments, outputs));
    context.refresh();
    handler = context.getBean(ResequencingMessageHandler.class);
  }

  private static ResequencingMessageHandler handler(String target, Arguments arguments, Outputs outputs) {
    final ResequencingMessageHandler made = new ResequencingMessageHandler(new ResequencingMessageGroupProcessor(),
        new SimpleMessageStore());
    made.setReleasePartialSequences(true);
    made.setOutputChannel(
        new FixedSubscriberChannel(message -> outputs.write(target, (Item) message.getPayload())));
    made.setGroupTimeoutExpression(new ValueExpression<>(arguments.timeoutMs()));
    made.setSendPartialResultOnExpiry(true);
    made.setTaskScheduler(scheduler());
    return made;
  }

  // Each document that waits has a task, a new one with each message; without the policy the old ones would stay.
  private static ThreadPoolTaskScheduler scheduler() {
    final ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
    scheduler.setRemoveOnCancelPolicy(true);
    scheduler.setDaemon(true);
    scheduler.initialize();
    return scheduler;
  }

  @Override
  public void accept(Item item) {
    handler.handleMessage(new GenericMessage<>(item,
        Map.of(IntegrationMessageHeaderAccessor.CORRELATION_ID, item.document(),
            IntegrationMessageHeaderAccessor.SEQUENCE_NUMBER, item.sequence())));
  }

  @Override
  public void close() {
    context.close();
  }
}
