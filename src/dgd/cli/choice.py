"""`dgd choice`: demand from market counts, and what other prices would do."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
import typer

from dgd.choice.product_labels import outside_named
from dgd.cli.choice_inputs import (
    ChartOptions,
    QuestionOptions,
    labels_of,
    new_prices,
    validation_markets,
)
from dgd.cli.choice_markets import MarketOptions
from dgd.cli.commands import DIVERGED, command
from dgd.cli.console import (
    out,
    print_json,
    show,
    training_progress,
    warnings_in_a_line,
    wrote,
)
from dgd.cli.options import AsJson, MoreSettings, Seeds, TableFile
from dgd.cli.values import named_settings, whole_numbers
from dgd.files.atomic import check_target
from dgd.tables.files import check_table_target, write_table

if TYPE_CHECKING:
    from dgd.choice.fit import ChoiceFit

app = typer.Typer(name="choice", no_args_is_help=True)


@app.callback()
def choice() -> None:
    """Demand from market counts: who buys what at which price."""


@app.command("fit")
@command
def fit_choice(
    sold: MarketOptions,
    pictures: ChartOptions,
    validation: Annotated[
        str, typer.Option(help="Fraction of markets held out, or their labels by commas.")
    ] = "0.25",
    components: Annotated[int | None, typer.Option(help="Types of choosers per cohort.")] = None,
    dim: Annotated[int | None, typer.Option(help="Dimensions of the propensity.")] = None,
    nodes: Annotated[int | None, typer.Option(help="Quadrature nodes per dimension.")] = None,
    population: Annotated[
        str | None, typer.Option(help="gaussian, fixed, discrete or point.")
    ] = None,
    more: MoreSettings = None,
    seeds: Seeds = "1,2,3",
    output: Annotated[Path, typer.Option(help="Model file to write.")] = Path("model.dgd"),
    as_json: AsJson = False,
) -> None:
    """Learn demand from a table of market counts and write it to a file.

    Example: dgd choice fit sales.csv --attributes quality,style --market-size visitors

    By a formula: dgd choice fit sales.csv --formula "sales ~ price | sugar" --market-size 4000
    """
    from dgd.choice import ChoiceModel, ChoiceSettings
    from dgd.learning.seeds import checked_seeds

    check_target(output, sold.files)
    markets = sold.read()
    chosen = {"components": components, "dim": dim, "nodes": nodes, "population": population}
    model = ChoiceModel(**named_settings(chosen, more or [], ChoiceSettings().as_dict()))
    held_out = validation_markets(validation, markets)
    tried = checked_seeds(whole_numbers(seeds, "seeds"))
    drawer = pictures.drawer(markets)
    with training_progress(tried, model.epochs, quiet=as_json) as tell, warnings_in_a_line():
        fitted = model.fit(markets, validation=held_out, seeds=tried, progress=tell)
    fitted.save(output)
    files = drawer.draw(fitted, markets)
    if as_json:
        print_json({"model": str(output), **_found(fitted), "charts": files})
    else:
        out.print(f"{markets}")
        for sentence in fitted.sentences():
            out.print(sentence)
        for title, table in fitted.tables().items():
            show(title, table)
        wrote(output, *files)
    if fitted.diverged:
        raise typer.Exit(DIVERGED)


@app.command("predict")
@command
def predict(
    asked: QuestionOptions,
    pictures: ChartOptions,
    set_price: Annotated[
        list[str] | None,
        typer.Option(help="A price to try, product=price; may be repeated."),
    ] = None,
    without: Annotated[str, typer.Option(help="Products to take away, by commas.")] = "",
    output: TableFile = None,
    as_json: AsJson = False,
) -> None:
    """Predict shares and counts, or what other prices would change.

    Without a table, for the markets of the fit. With --set-price or --without every row has
    the base, the changed value and the difference.

    Example: dgd choice predict model.dgd --set-price a=2.5 --output changes.csv
    """
    _check_results(output, asked)
    fit, markets = asked.read()
    drawer = pictures.drawer(markets)
    changed = markets
    if set_price:
        changed = changed.with_prices(new_prices(set_price))
    if without:
        changed = changed.without_products(labels_of(without, markets))
    total = None
    with warnings_in_a_line():
        if changed is markets:
            rows = fit.predict(markets, "polars")
            payload: dict[str, Any] = {"rows": rows.to_dicts()}
        else:
            comparison = fit.compare(changed, markets)
            rows, total = comparison.products("polars"), comparison.total("polars")
            payload = comparison.payload()
        files = drawer.draw(fit, changed)
    if output is not None:
        write_table(rows, output)
    if as_json:
        print_json({**payload, "charts": files})
        return
    if output is None:
        title = "Shares and counts" if total is None else "Every product"
        show(title, outside_named(rows, markets.columns.product), most=60)
    if total is not None:
        show("All markets together", total)
    wrote(*([] if output is None else [output]), *files)


@app.command("elasticities")
@command
def elasticities(
    asked: QuestionOptions,
    pictures: ChartOptions,
    diversion: Annotated[
        bool, typer.Option("--diversion", help="Diversion ratios instead: where buyers go.")
    ] = False,
    output: TableFile = None,
    as_json: AsJson = False,
) -> None:
    """Tell how shares answer to prices, in every market; shown are means over markets.

    Example: dgd choice elasticities model.dgd --output elasticities.csv
    """
    _check_results(output, asked)
    fit, markets = asked.read()
    drawer = pictures.drawer(markets)
    with warnings_in_a_line():
        rows = (
            fit.diversion(markets, "polars") if diversion else fit.elasticities(markets, "polars")
        )
        files = drawer.draw(fit, markets)
    if output is not None:
        write_table(rows, output)
    if as_json:
        print_json({"rows": rows.to_dicts(), "charts": files})
        return
    title = "Diversion ratios" if diversion else "Elasticities"
    over = _over_markets(rows, markets.columns.product)
    show(f"{title}, over markets", outside_named(over, over.columns[1]), most=60)
    wrote(*([] if output is None else [output]), *files)


def _found(fit: "ChoiceFit") -> dict[str, Any]:
    """What a fit says of itself; types only where there are some."""
    record = fit.record
    told = {} if record is None else {"people": record.candidates_table().to_dicts()}
    if record is not None:
        told["coefficients"] = fit.coefficients(kind="polars").to_dicts()
    if not fit.alike:
        told["segments"] = fit.segments("polars").to_dicts()
    seeds = fit.summary("polars").to_dicts()
    return {"said": fit.sentences(), "seeds": seeds, **told}


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


def _check_results(output: Path | None, asked: QuestionOptions) -> None:
    if output is not None:
        check_table_target(output, [asked.model, asked.table, asked.sizes])
