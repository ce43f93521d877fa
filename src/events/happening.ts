/** What happened to what. `payload` holds the facts as they were; readers must not need the rows it names. */
export type Happening = {
  kind: string
  projectId?: number
  groupId?: number
  actorId: number | null
  payload: Readonly<Record<string, unknown>>
}
