/**
 * Takes a step of a job for each of these ids. A failure of one does not stop the others; all are thrown at the end, so that the job is tried
 * again.
 */
export async function eachByItself(ids: Iterable<number>, step: (id: number) => Promise<void>): Promise<void> {
  const errors: unknown[] = []
  for (const id of ids) await step(id).catch((error: unknown) => errors.push(error))
  if (errors.length > 0)
    throw new AggregateError(errors, `${errors.length} ${errors.length === 1 ? 'step' : 'steps'} failed`)
}
