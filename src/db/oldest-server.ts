/** The oldest PostgreSQL that the migrations and statements run on. Loads no driver, for processes without a connection. */
export const oldestServer = { major: 14, versionNumber: 140_000 } as const
