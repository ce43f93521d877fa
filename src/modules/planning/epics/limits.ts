/** Maximum epics from the topmost ancestor to the lowest descendant. */
export const mostGenerations = 5

/** Maximum children of one epic. */
export const mostChildren = 1000
