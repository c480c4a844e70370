"""`dgd choice`: demand from market counts, and what other prices would do."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from dgd.cli.choice_inputs import (
    asked_markets,
    column_or_number,
    labels_of,
    new_prices,
    validation_markets,
)
from dgd.cli.console import (
    check_target,
    leaving_cleanly,
    out,
    print_json,
    read_table,
    ready_folder,
    show,
    training_progress,
    warnings_in_a_line,
    write_table,
)
from dgd.cli.inputs import names, settings, whole_numbers
from dgd.cli.options import MoreSettings, Seeds

if TYPE_CHECKING:
    from altair import TopLevelMixin

    from dgd.choice import ChoiceFit, Markets
    from dgd.tables.labels import Label

app = typer.Typer(name="choice", no_args_is_help=True)

Model = Annotated[Path, typer.Argument(help="Model file written by dgd choice fit.")]
NewTable = Annotated[
    Path | None,
    typer.Argument(help="New markets with the columns of the fit; counts are not needed."),
]
NewSize = Annotated[
    str | None, typer.Option("--market-size", help="Opportunities in the new markets.")
]
NewSizes = Annotated[
    Path | None, typer.Option("--sizes", help="Cohorts' reference sizes in the new markets.")
]
Charts = Annotated[Path | None, typer.Option(help="Folder for charts, .html and .png.")]
Charted = Annotated[
    str, typer.Option("--products", help="Products to chart, by commas; else the most sold.")
]


@app.callback()
def choice() -> None:
    """Demand from market counts: who buys what at which price."""


@app.command("fit")
@leaving_cleanly
def fit_choice(
    table: Annotated[Path, typer.Argument(help="One row per market and product.")],
    attributes: Annotated[str, typer.Option(help="Attribute columns, separated by commas.")] = "",
    market: Annotated[str, typer.Option(help="Market column.")] = "market",
    product: Annotated[str, typer.Option(help="Product column.")] = "product",
    price: Annotated[str, typer.Option(help="Price column.")] = "price",
    count: Annotated[str, typer.Option(help="Column of how many bought.")] = "count",
    outside: Annotated[
        str | None, typer.Option(help="How many bought nothing: a column or a number.")
    ] = None,
    market_size: Annotated[
        str | None, typer.Option(help="How many could have bought: a column or a number.")
    ] = None,
    available: Annotated[str | None, typer.Option(help="0/1 column of availability.")] = None,
    sizes: Annotated[Path | None, typer.Option(help="Cohorts' reference sizes.")] = None,
    cohort: Annotated[str, typer.Option(help="Cohort column of the sizes.")] = "cohort",
    validation: Annotated[
        str, typer.Option(help="Fraction of markets held out, or their labels by commas.")
    ] = "0.25",
    components: Annotated[int, typer.Option(help="Types of choosers per cohort.")] = 2,
    dim: Annotated[int, typer.Option(help="Dimensions of the propensity.")] = 2,
    nodes: Annotated[int, typer.Option(help="Quadrature nodes per dimension.")] = 7,
    population: Annotated[
        str, typer.Option(help="gaussian, fixed, discrete or point.")
    ] = "gaussian",
    more: MoreSettings = None,
    seeds: Seeds = "1,2,3",
    output: Annotated[Path, typer.Option(help="Model file to write.")] = Path("model.dgd"),
    charts: Charts = None,
    charted: Charted = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON summary.")] = False,
) -> None:
    """Learn demand from a table of market counts and write it to a file.

    Example: dgd choice fit sales.csv --attributes quality,style --market-size visitors
    """
    from dgd.choice import ChoiceModel, ChoiceSettings, Markets

    check_target(output)
    markets = Markets.from_table(
        read_table(table),
        attributes=names(attributes),
        market=market,
        product=product,
        price=price,
        count=count,
        outside=column_or_number(outside),
        market_size=column_or_number(market_size),
        available=available,
        sizes=None if sizes is None else read_table(sizes),
        cohort=cohort,
    )
    chosen = {"components": components, "dim": dim, "nodes": nodes, "population": population}
    model = ChoiceModel(**{**chosen, **settings(more or [], ChoiceSettings().as_dict())})
    held_out = validation_markets(validation, markets)
    tried = whole_numbers(seeds, "seeds")
    folder, shown = None if charts is None else ready_folder(charts), labels_of(charted, markets)
    with training_progress(tried, model.epochs, quiet=as_json) as tell, warnings_in_a_line():
        fitted = model.fit(markets, validation=held_out, seeds=tried, progress=tell)
    fitted.save(output)
    files = _charts(fitted, markets, folder, shown)
    summary, segments = fitted.summary("polars"), fitted.segments("polars")
    if as_json:
        print_json(
            {
                "model": str(output),
                "seeds": summary.to_dicts(),
                "segments": segments.to_dicts(),
                "charts": files,
            }
        )
    else:
        out.print(f"{markets}")
        show("Training", summary)
        show("Types of choosers", segments)
        _wrote([str(output), *files])
    if fitted.diverged:
        raise typer.Exit(3)


@app.command("predict")
@leaving_cleanly
def predict(
    model: Model,
    table: NewTable = None,
    market_size: NewSize = None,
    sizes: NewSizes = None,
    set_price: Annotated[
        list[str] | None,
        typer.Option(help="A price to try, product=price; may be repeated."),
    ] = None,
    without: Annotated[str, typer.Option(help="Products to take away, by commas.")] = "",
    output: Annotated[Path | None, typer.Option(help="File to write, .csv or .parquet.")] = None,
    charts: Charts = None,
    charted: Charted = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
) -> None:
    """Predict shares and counts, or what other prices would change.

    Without a table, for the markets of the fit. With --set-price or --without every row has
    the base, the changed value and the difference.

    Example: dgd choice predict model.dgd --set-price a=2.5 --output changes.csv
    """
    from dgd.choice import load

    _check_results(output)
    fit = load(model)
    markets = asked_markets(fit, table, market_size, sizes)
    folder, shown = None if charts is None else ready_folder(charts), labels_of(charted, markets)
    changed = markets
    if set_price:
        changed = changed.with_prices(new_prices(set_price))
    if without:
        changed = changed.without_products(labels_of(without, markets))
    with warnings_in_a_line():
        if changed is markets:
            rows, total = fit.predict(markets, "polars"), None
        else:
            comparison = fit.compare(changed, markets)
            rows, total = comparison.products("polars"), comparison.total("polars")
        files = _charts(fit, changed, folder, shown)
    if output is not None:
        write_table(rows, output)
    if as_json:
        found = {} if total is None else {"total": total.to_dicts()}
        print_json({"rows": rows.to_dicts(), **found, "charts": files})
        return
    if output is None:
        show("Shares and counts" if total is None else "Every product", rows, most=60)
    if total is not None:
        show("All markets together", total)
    _wrote([*([] if output is None else [str(output)]), *files])


@app.command("elasticities")
@leaving_cleanly
def elasticities(
    model: Model,
    table: NewTable = None,
    market_size: NewSize = None,
    sizes: NewSizes = None,
    diversion: Annotated[
        bool, typer.Option("--diversion", help="Diversion ratios instead: where buyers go.")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="File to write, .csv or .parquet.")] = None,
    charts: Charts = None,
    charted: Charted = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
) -> None:
    """Tell how shares answer to prices, in every market; shown are means over markets.

    Example: dgd choice elasticities model.dgd --output elasticities.csv
    """
    from dgd.choice import load

    _check_results(output)
    fit = load(model)
    markets = asked_markets(fit, table, market_size, sizes)
    folder, shown = None if charts is None else ready_folder(charts), labels_of(charted, markets)
    with warnings_in_a_line():
        rows = (
            fit.diversion(markets, "polars") if diversion else fit.elasticities(markets, "polars")
        )
        files = _charts(fit, markets, folder, shown)
    if output is not None:
        write_table(rows, output)
    if as_json:
        print_json({"rows": rows.to_dicts(), "charts": files})
        return
    title = "Diversion ratios" if diversion else "Elasticities"
    show(f"{title}, over markets", _over_markets(rows, fit.markets.columns.product), most=60)
    _wrote([*([] if output is None else [str(output)]), *files])


def _over_markets(rows: pl.DataFrame, product: str) -> pl.DataFrame:
    """Mean, lowest and highest over the markets that have both products."""
    other, measure = rows.columns[-2:]
    value = pl.col(measure)
    return rows.group_by(product, other, maintain_order=True).agg(
        value.mean().alias("mean"),
        value.min().alias("lowest"),
        value.max().alias("highest"),
        pl.len().alias("markets"),
    )


def _charts(
    fit: "ChoiceFit", markets: "Markets", folder: Path | None, products: "list[Label]"
) -> list[str]:
    """Write both charts, each as a page and as a picture, and name the files."""
    from dgd.report import demand_curve_chart, save_chart, sensitivity_chart

    if folder is None:
        return []
    made: dict[str, TopLevelMixin] = {
        "sensitivity": sensitivity_chart(fit),
        "demand": demand_curve_chart(fit, products or None, markets=markets),
    }
    files = []
    for name, chart in made.items():
        for ending in ("html", "png"):
            file = folder / f"{name}.{ending}"
            save_chart(chart, file)
            files.append(str(file))
    return files


def _check_results(output: Path | None) -> None:
    if output is not None:
        check_target(output)


def _wrote(files: list[str]) -> None:
    for file in files:
        out.print(f"wrote {file}", soft_wrap=True)
