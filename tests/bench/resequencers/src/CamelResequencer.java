// Camel's stream resequencer, one for each partition. It delivers from the front of one order of all its documents, so
// one that waits for a predecessor holds up all behind it; and to find the neighbours of what comes it goes through all
// that it keeps, which costs their square. No option changes that. Documents of different partitions have nothing to do
// with each other, so at least these are kept apart.
//
// What is kept is in memory only, and was committed: a kill loses it, what was in order but not yet
// delivered, and what the producer had not sent.
//
// Thread rule: any thread may hand over; a thread of Camel's for each partition delivers.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.camel.CamelContext;
import org.apache.camel.Endpoint;
import org.apache.camel.Exchange;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.processor.StreamResequencer;
import org.apache.camel.support.DefaultExchange;

final class CamelResequencer implements Resequencer {
  private static final String ENTRY = "direct:";
  private static final String RESEQUENCER = "resequencer-";
  // Camel's thread misses what comes while it delivers, and looks again when this is over: at most that late.
  private static final long LOOK_AGAIN_MS = 10;
  private static final Item FIRST = new Item("", 0, null);

  private final String target;
  private final Arguments arguments;
  private final Outputs outputs;
  private final CamelContext context = new DefaultCamelContext();
  private final ProducerTemplate template = context.createProducerTemplate();
  private final List<Endpoint> entries = new ArrayList<>();
  private final List<Succession> successions = new ArrayList<>();
  private final CountDownLatch begun;

  CamelResequencer(String target, Arguments arguments, Outputs outputs) throws Exception {
    this.target = target;
    this.arguments = arguments;
    this.outputs = outputs;
    begun = new CountDownLatch(arguments.partitions());
    context.addRoutes(new RouteBuilder() {
      @Override
      public void configure() {
        errorHandler(noErrorHandler()); // nothing is tried again
        for (int partition = 0; partition < arguments.partitions(); ++partition) route(this, partition);
      }
    });
    context.start();
    template.start();
    deliverFirst();
  }

  private void route(RouteBuilder routes, int partition) {
    final Succession succession = new Succession();
    successions.add(succession);
    routes.from(ENTRY + partition).resequence(routes.body()).stream().capacity(arguments.capacity())
        .timeout(arguments.timeoutMs()).deliveryAttemptInterval(LOOK_AGAIN_MS).comparator(succession)
        .id(RESEQUENCER + partition).process(exchange -> deliver(Succession.placed(exchange)));
  }

  // Until something was delivered nothing is a successor, so all that comes in that time would wait until its own time
  // is over. Something that belongs to no document and waits for a millisecond ends that before the first record comes.
  private void deliverFirst() throws InterruptedException {
    final List<StreamResequencer> resequencers = new ArrayList<>();
    for (int partition = 0; partition < arguments.partitions(); ++partition) {
      resequencers.add(context.getProcessor(RESEQUENCER + partition, StreamResequencer.class));
      entries.add(context.getEndpoint(ENTRY + partition));
    }
    for (StreamResequencer resequencer : resequencers) resequencer.setTimeout(1);
    for (int partition = 0; partition < arguments.partitions(); ++partition) accept(FIRST, partition);
    begun.await();
    for (StreamResequencer resequencer : resequencers) resequencer.setTimeout(arguments.timeoutMs());
  }

  private void deliver(Succession.Placed placed) {
    if (placed.item() == FIRST) {
      begun.countDown();
      return;
    }
    placed.deliver();
    try {
      outputs.write(target, placed.item());
    } catch (RuntimeException error) { // Camel would log it and go on
      outputs.fail(error);
    }
  }

  // Waits while as much is kept as there is room for.
  @Override
  public void accept(Item item) {
    accept(item, item.record().partition());
  }

  private void accept(Item item, int partition) {
    final Exchange exchange = new DefaultExchange(context);
    exchange.getMessage().setBody(successions.get(partition).place(item));
    template.send(entries.get(partition), exchange);
    if (exchange.getException() != null) throw new IllegalStateException(exchange.getException());
  }

  @Override
  public void close() {
    context.stop();
  }
}
