// The order of Camel's stream resequencer: the document that came first comes first, and in a document what has the
// smaller sequence. In the order of their names new documents would hold up older ones, until these are over time.
//
// Camel remembers one element that it delivered last, of whatever document. With nothing but a comparison of two
// elements, whatever follows a delivered one of its own document after one of another had been delivered would wait
// until its time is over, and everything behind it. So this remembers what was delivered last of each document, and
// calls its successor a successor of whatever was delivered last.
//
// Thread rule: any thread may place. Camel asks under the lock of its engine, and delivers under it.
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.camel.Exchange;
import org.apache.camel.Expression;
import org.apache.camel.processor.resequencer.ExpressionResultComparator;

final class Succession implements ExpressionResultComparator {
  private static final class Document {
    final long place;
    int delivered = 0;

    Document(long place) { this.place = place; }
  }

  // The body of an exchange.
  record Placed(Document document, Item item) {
    void deliver() {
      document.delivered = item.sequence();
    }
  }

  private final Map<String, Document> documents = new ConcurrentHashMap<>();
  private final AtomicLong places = new AtomicLong();

  Placed place(Item item) {
    return new Placed(
        documents.computeIfAbsent(item.document(), unknown -> new Document(places.getAndIncrement())), item);
  }

  static Placed placed(Exchange exchange) {
    return (Placed) exchange.getMessage().getBody();
  }

  // Camel's own orders are made of what an expression says of an exchange; this one needs none.
  @Override
  public void setExpression(Expression expression) {}

  @Override
  public boolean isValid(Exchange exchange) {
    return exchange.getMessage().getBody() instanceof Placed;
  }

  @Override
  public int compare(Exchange left, Exchange right) {
    final Placed a = placed(left);
    final Placed b = placed(right);
    final int order = Long.compare(a.document.place, b.document.place);
    return order != 0 ? order : Integer.compare(a.item.sequence(), b.item.sequence());
  }

  @Override
  public boolean predecessor(Exchange left, Exchange right) {
    return follows(placed(right), placed(left));
  }

  @Override
  public boolean successor(Exchange left, Exchange right) {
    final Placed placed = placed(left);
    return follows(placed, placed(right)) || placed.item.sequence() == placed.document.delivered + 1;
  }

  private static boolean follows(Placed placed, Placed before) {
    return placed.document == before.document && placed.item.sequence() == before.item.sequence() + 1;
  }
}
