// A library that puts the records of documents in order, for one target. It writes what is in order to the outputs that
// it was made with, on a thread of its choice, a document never on two at a time.
interface Resequencer extends AutoCloseable {
  // May write this item and others, or keep it until its predecessor has come or the timeout is over.
  void accept(Item item);

  // Forgets what it still keeps.
  @Override
  void close();
}
