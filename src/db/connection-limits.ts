/** Maximum connections of one process to the database, by their use (`openDatabase`). */
export const connectionLimits = { readers: 3, keyReaders: 2, pageReaders: 3, writers: 9, singleWriters: 3 } as const

/** One that listens. */
const forNotifications = 1

/** Of the queue of jobs, a backup, and commands beside the service. */
const others = 10

/** Maximum connections of a service with this many workers. It has a process for jobs, too, and one more while one of them is replaced. */
export const connectionsOf = (workers: number): number =>
  (workers + 2) * (Object.values(connectionLimits).reduce((sum, each) => sum + each, 0) + forNotifications) + others
