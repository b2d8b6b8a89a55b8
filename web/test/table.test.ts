import { expect, it } from "vitest";
import { csv } from "../src/table";

it("CSV keeps all digits and quotes what needs it", () => {
  const columns = [
    { title: "Combination", values: ['drive "a", ON', "b"] },
    { title: "Throughput", unit: "queries/s", values: [4482.391, null] },
  ];
  expect(csv(columns)).toBe('Combination,Throughput [queries/s]\r\n"drive ""a"", ON",4482.391\r\nb,\r\n');
});
