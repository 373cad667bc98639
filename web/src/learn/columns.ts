/** Columns of equally long rows, so that the last row is not a rest. */
export function columnsOf(count: number, most: number): number {
  return Math.ceil(count / Math.ceil(count / most));
}
