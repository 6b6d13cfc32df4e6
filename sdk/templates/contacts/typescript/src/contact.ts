/** Paper's cards, and what they are as contacts for Switchboard. */

import { type Contact, type ContactBook, type ContactEmail, type ContactPhone, Failure, type Given, type Source } from "#switchboard";
import type { Collection, Names, PaperRecord } from "./paper.ts";

export const NAMES: Names = { collections: "books", records: "cards" };

/** An address or a number. Paper's kinds are those of the model. */
interface PaperValue<Kind> {
  value: string;
  kind: Kind;
  label: string | null;
  first: boolean;
}

export interface PaperCard extends PaperRecord {
  name: string;
  given: string | null;
  family: string | null;
  note: string | null;
  emails: PaperValue<NonNullable<ContactEmail["type"]>>[];
  phones: PaperValue<NonNullable<ContactPhone["type"]>>[];
}

export function book({ title }: Collection): ContactBook {
  return { name: title, rights: { read: true, write: true, delete: true } };
}

export function source(card: PaperCard): Source {
  if (card.deleted) return { externalId: card.id, deleted: true };
  const body: Contact = {
    displayName: card.name,
    givenName: card.given,
    familyName: card.family,
    notes: card.note,
    // The order of the values is the user's.
    emails: card.emails.map(({ value, kind, label, first }) => ({ value, type: kind, label, primary: first })),
    phones: card.phones.map(({ value, kind, label, first }) => ({ value, type: kind, label, primary: first })),
  };
  return { externalId: card.id, etag: card.etag, items: [{ externalId: card.id, body }] };
}

/** What Paper shall have of a contact: all fields, or the changed ones alone, so that the others stay as they are. */
export function fields(contact: Given.Contact, changed?: string[]): Partial<PaperCard> {
  const all = {
    displayName: { name: contact.displayName ?? "" },
    givenName: { given: contact.givenName },
    familyName: { family: contact.familyName },
    notes: { note: contact.notes },
    emails: { emails: contact.emails.map(({ value, type, label, primary }) => ({ value, kind: type, label, first: primary })) },
    phones: { phones: contact.phones.map(({ value, type, label, primary }) => ({ value, kind: type, label, first: primary })) },
  };
  const kept = Object.entries(all).filter(([field]) => changed === undefined || changed.includes(field));
  return Object.assign({}, ...kept.map(([, theirs]) => theirs)) as Partial<PaperCard>;
}

const KEPT = ["displayName", "givenName", "familyName", "notes", "emails", "phones"];

/** The fields among these that Paper does not keep. */
export function unkept(changed: string[]): string[] {
  return changed.filter((field) => !KEPT.includes(field));
}

/** A strict caller wants all or nothing. */
export function refuseUnkept(write: Given.ContactWrite): void {
  const [field] = unkept(write.changed);
  if (write.strict && field !== undefined) throw Failure.unsupported(`the field ${field}`, { field });
}
