/** The numbers of stations for which Metcalfe and Boggs tabulate their formula. */
export const STATIONS: readonly number[] = [1, 2, 3, 4, 5, 10, 32, 64, 128, 256];
