/**
 * Of a request with an idempotency key, whose effects and answer are committed together (edges/http/idempotency): what code
 * calls that changes something outside the database.
 */
export type OutsideEffects = {
  /** Before work that needs committed rows, or waits for locks outside the database. */
  prepare(): void
  /** Immediately before the change, which cannot be rolled back. */
  begin(): Promise<void>
}
