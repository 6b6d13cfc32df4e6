/** The types of the API's bodies, pages and queries. */
export type * from "./generated/types.js";
