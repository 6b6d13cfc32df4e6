/** A connector for Paper's address books. `contact.ts` maps cards, `paper.ts` calls the service; here are the operations that a host asks for. */

import { type Contacts, defineConnector, type Given, type Lifecycle } from "#switchboard";
import { book, fields, NAMES, type PaperCard, refuseUnkept, source, unkept } from "./contact.ts";
import * as paper from "./paper.ts";

const lifecycle: Lifecycle = {
  check: (context) => paper.account(context, "contacts"),
};

const contacts: Contacts = {
  // What is not claimed here, no caller asks for: groups, pictures, stars.
  features: () => ({ createContact: true, delta: "syncToken" }),

  listBooks: (context) => paper.collections(context, NAMES, book),

  getContact: (context, args) => ({ sources: [source(paper.get<PaperCard>(context, NAMES, args.collection, args.source))] }),

  changes: (context, args) => paper.changes<PaperCard>(context, NAMES, args, source),

  createContact(context, args) {
    refuseUnkept(args);
    return written(paper.create<PaperCard>(context, NAMES, args.collection, fields(args.body)), args);
  },

  updateContact(context, args) {
    refuseUnkept(args);
    return written(paper.update<PaperCard>(context, NAMES, args, fields(args.body, args.changed)), args);
  },

  deleteContact: (context, args) => ({
    sources: [paper.remove(context, NAMES, args.collection, args.source, args.ifMatch)],
  }),
};

/** The answer of a change. */
function written(card: PaperCard, { changed }: Given.ContactWrite) {
  return { sources: [source(card)], item: card.id, warnings: paper.warnings(unkept(changed)) };
}

export default defineConnector({ contacts, lifecycle });
