// The Bloom commands by go-redis, on a server at PORT, with the given version of the protocol: bloom PORT 2|3
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

func main() {
	protocol, err := strconv.Atoi(os.Args[2])
	check(err)
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1], Protocol: protocol})
	defer client.Close()
	ctx := context.Background()

	line("reserve", must(client.BFReserve(ctx, "visitors", 0.001, 1000).Result()))
	_, err = client.BFReserve(ctx, "visitors", 0.001, 1000).Result()
	line("again", strings.Contains(err.Error(), "item exists"))
	line("add", must(client.BFAdd(ctx, "visitors", "alice").Result()), must(client.BFAdd(ctx, "visitors", "alice").Result()))
	line("madd", all(client.BFMAdd(ctx, "visitors", "bob", "alice", "carol").Result())...)
	line("exists", must(client.BFExists(ctx, "visitors", "bob").Result()), must(client.BFExists(ctx, "visitors", "nobody").Result()))
	line("mexists", all(client.BFMExists(ctx, "visitors", "carol", "nobody").Result())...)
	options := &redis.BFInsertOptions{Capacity: 500, Error: 0.01}
	line("insert", all(client.BFInsert(ctx, "urls", options, "a", "b", "a").Result())...)
	info := must(client.BFInfo(ctx, "visitors").Result())
	line("info", info.Capacity, info.Filters, info.ItemsInserted, info.ExpansionRate)
	line("card", must(client.BFCard(ctx, "visitors").Result()))
	for at := must(client.BFScanDump(ctx, "visitors", 0).Result()); at.Iter != 0; at = must(client.BFScanDump(ctx, "visitors", at.Iter).Result()) {
		must(client.BFLoadChunk(ctx, "copy", at.Iter, at.Data).Result())
	}
	line("copy", must(client.BFExists(ctx, "copy", "alice").Result()), must(client.BFExists(ctx, "copy", "nobody").Result()))
}

func line(name string, values ...any) {
	fmt.Println(append([]any{name + ":"}, values...)...)
}

func all(truths []bool, err error) (values []any) {
	check(err)
	for _, each := range truths {
		values = append(values, each)
	}
	return values
}

func must[Value any](value Value, err error) Value {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
